public import NetworkClient
public import Reachability
public import ReachabilityCore

/// A network whose state a test sets, in place of this machine's.
///
/// ```swift
/// let network = ScriptedMonitor(.notReachable)
/// let configuration = HTTPConfiguration(gate: .waitsForConnectivity(nil), connectivity: network)
/// let session = try HTTPSession(baseURL: "https://api.example.com", configuration: configuration)
/// let request = session.get("status")
/// try await network.waitUntilWatched()
/// network.status = .wifi
/// ```
///
/// There is one interface: `wlan0` for Wi-Fi, `wwan0` for cellular. All addresses are reached through it, or none. Host
/// names are not looked up; they have the address 192.0.2.1 (RFC 5737), so that connections are never opened: use it
/// with ``ScriptedTransport``, or with a server at a numeric address.
public final class ScriptedMonitor: Connectivity {
    private struct State: Sendable {
        var status: ReachabilityStatus
        var validation = PathValidationStatus.notChecked
        var watches: [UInt64: @Sendable () -> Void] = [:]
        var validationWatches: [UInt64: @Sendable () -> Void] = [:]
        var lastWatch: UInt64 = 0
        /// The results of the next checks; the status stays when there are no more.
        var checks: [PathValidationStatus] = []
        var checkCount = 0
    }

    private let state: WatchedValue<State>

    /// Creates a network.
    ///
    /// - Parameter status: Its first state.
    public init(_ status: ReachabilityStatus = .wifi) { state = .init(.init(status: status)) }

    /// The state of the network; setting it notifies those who watch it, as a change of the machine's does.
    public var status: ReachabilityStatus {
        get { state.value.status }
        set {
            let watches = state.change { state in
                guard state.status != newValue else { return [@Sendable () -> Void]() }
                state.status = newValue
                return Array(state.watches.values)
            }
            for watch in watches { watch() }
        }
    }

    /// Waits until the network is watched: until a request waits for a path.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitUntilWatched() async throws { try await state.wait { !$0.watches.isEmpty } }

    // MARK: Connectivity

    /// The default path.
    public var path: NetworkPath {
        let status = status
        let interface = Self.interface(status)
        return .init(
            status: status,
            interface: interface,
            carriers: interface.map { [$0] } ?? [],
            reasons: status.isReachable ? [] : [.noRoute],
            isExpensive: status == .cellular
        )
    }

    /// Returns the path to an address: through the interface, if it meets the requirement.
    public func path(to destination: IPAddress, requiring requirement: PathRequirement) -> DestinationPath {
        let status = status
        guard let interface = Self.interface(status) else { return .refused(destination, [.noRoute]) }
        let isExpensive = status == .cellular
        guard requirement.allows(interface, over: [interface], isExpensive: isExpensive) else {
            return .refused(destination, [.notAllowed], ruledOut: [.init(interface, .notAllowed)])
        }
        return .init(
            destination: destination,
            status: status,
            interface: interface,
            carriers: [interface],
            outcome: .selected(.init(table: .main, nextHop: .init(interface: interface.index))),
            isExpensive: isExpensive
        )
    }

    /// Returns the address of every host name except `localhost`: 192.0.2.1.
    public func addresses(of host: String) -> [IPAddress]? {
        host == "localhost" || host.hasSuffix(".localhost") ? nil : Self.addresses
    }

    /// Calls a closure after each change of the state.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let number = state.change { state in
            state.lastWatch += 1
            state.watches[state.lastWatch] = body
            return state.lastWatch
        }
        return Watch { [state] in state.change { $0.watches[number] = nil } }
    }

    private struct Watch: ConnectivityWatch {
        let end: @Sendable () -> Void

        func cancel() { end() }
    }

    /// An address that is reserved for documentation (RFC 5737).
    private static let addresses = IPAddress("192.0.2.1").map { [$0] }

    /// The interface that carries the default path in a state.
    ///
    /// Its index is that of the loopback interface: a socket that is bound to it can reach a server on this machine.
    private static func interface(_ status: ReachabilityStatus) -> NetworkInterface? {
        switch status {
        case .wifi: .init(index: 1, name: "wlan0", kind: .wifi, kindSource: .rule)
        case .cellular: .init(index: 1, name: "wwan0", kind: .cellular, kindSource: .rule)
        default: nil
        }
    }
}

extension ScriptedMonitor: PathValidation {
    /// Whether the path leads to the internet, for sessions with this network as their validation; `notChecked` by default.
    ///
    /// Setting it notifies the requests that wait for it.
    public var validationStatus: PathValidationStatus {
        get { state.value.validation }
        set {
            let watches = state.change { state in
                guard state.validation != newValue else { return [@Sendable () -> Void]() }
                state.validation = newValue
                return Array(state.validationWatches.values)
            }
            for watch in watches { watch() }
        }
    }

    /// The results of the next checks, in order; the status stays as it is when there are no more.
    public var checkResults: [PathValidationStatus] {
        get { state.value.checks }
        set { state.change { $0.checks = newValue } }
    }

    /// The number of checks so far.
    public var checkCount: Int { state.value.checkCount }

    /// Waits until a request waits for a validated path.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitUntilValidationIsWatched() async throws { try await state.wait { !$0.validationWatches.isEmpty } }

    /// Waits until no request waits for a validated path.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitUntilValidationIsUnwatched() async throws { try await state.wait { $0.validationWatches.isEmpty } }

    /// Sets the status to the next of ``checkResults``, and returns it.
    public func revalidate() async -> PathValidationStatus {
        let next = state.change { state in
            state.checkCount += 1
            return state.checks.isEmpty ? nil : state.checks.removeFirst()
        }
        if let next { validationStatus = next }
        return validationStatus
    }

    /// Calls a closure after each change of ``validationStatus``.
    public func watchValidation(_ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let number = state.change { state in
            state.lastWatch += 1
            state.validationWatches[state.lastWatch] = body
            return state.lastWatch
        }
        return Watch { [state] in state.change { $0.validationWatches[number] = nil } }
    }
}

extension DestinationPath {
    /// A destination without a path.
    fileprivate static func refused(
        _ destination: IPAddress,
        _ reasons: [ReachabilityReason],
        ruledOut: [RuledOutInterface] = []
    ) -> Self {
        .init(
            destination: destination,
            status: .notReachable,
            outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute),
            reasons: reasons,
            ruledOut: ruledOut
        )
    }
}
