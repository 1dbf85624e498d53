import Locking
import NetworkClient
import Reachability
import ReachabilityCore

/// A simulated network: one table of interfaces through which addresses are reached.
final class MadeUpConnectivity: Connectivity {
    /// The simulated network.
    struct Network: Sendable {
        var status = ReachabilityStatus.wifi
        var reasons: [ReachabilityReason] = []
        /// For each destination (or all others: nil) the interfaces that lead there, the preferred one first.
        var ways: [IPAddress?: [NetworkInterface]] = [:]
        /// The machine's own addresses.
        var own: Set<IPAddress> = []
        /// Whether lookups fail.
        var isBroken = false
        /// The destinations whose lookups fail.
        var broken: Set<IPAddress> = []
        /// Whether what is not read yet may hold a path.
        var isReading = false
    }

    private struct State {
        var network: Network
        var watches: [Int: @Sendable () -> Void] = [:]
        var destinations: [Int: [IPAddress]] = [:]
        var lastWatch = 0
        var questions = 0
    }

    /// Returns the kind of interface for a name.
    static let wlan = NetworkInterface(index: 10, name: "wlan0", kind: .wifi, kindSource: .rule)
    static let wwan = NetworkInterface(index: 11, name: "wwan0", kind: .cellular, kindSource: .rule)
    private static let loopback = NetworkInterface(index: 1, name: "lo", kind: .loopback, kindSource: .arphrd)

    private let state: Lock<State>

    init(_ network: Network) { state = .init(.init(network: network)) }

    /// Changes the network, and notifies the watchers.
    func change(_ body: @Sendable (inout Network) -> Void) {
        state.withLock { body(&$0.network) }
        for watch in state.withLock({ Array($0.watches.values) }) { watch() }
    }

    /// Changes the network without notifying the watchers.
    func changeSilently(_ body: @Sendable (inout Network) -> Void) { state.withLock { body(&$0.network) } }

    /// The number of watches.
    var watchCount: Int { state.withLock(\.watches.count) }
    /// The addresses that are watched.
    var watched: Set<IPAddress> { state.withLock { Set($0.destinations.values.flatMap(\.self)) } }
    /// The number of lookups.
    var questions: Int { state.withLock(\.questions) }

    var status: ReachabilityStatus { state.withLock(\.network.status) }
    var path: NetworkPath { state.withLock { .init(status: $0.network.status, reasons: $0.network.reasons) } }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let network = state.withLock { state in
            state.questions += 1
            return state.network
        }
        if network.isBroken || network.broken.contains(destination) { throw CancellationError() }
        if destination.isLoopback || network.own.contains(destination) { return .made(destination, Self.loopback) }
        if network.isReading {
            return .init(destination: destination, status: .unknown, outcome: .refused(errno: 101, .noRoute))
        }
        let ways = network.ways[destination] ?? network.ways[nil] ?? []
        let allowed = ways.first { requirement.allows($0, over: [$0], isExpensive: $0.kind == .cellular) }
        if let allowed { return .made(destination, allowed) }
        return .init(
            destination: destination,
            status: .notReachable,
            outcome: .refused(errno: 101, .noRoute),
            reasons: ways.isEmpty ? [.noRoute] : [.notAllowed],
            ruledOut: ways.map { .init($0, .notAllowed) }
        )
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let id = state.withLock { state in
            state.lastWatch += 1
            state.watches[state.lastWatch] = body
            state.destinations[state.lastWatch] = destinations
            return state.lastWatch
        }
        return Watch { [self] in
            state.withLock { state in
                state.watches[id] = nil
                state.destinations[id] = nil
            }
        }
    }

    private struct Watch: ConnectivityWatch {
        let end: @Sendable () -> Void
        func cancel() { end() }
    }
}

extension DestinationPath {
    /// A path through an interface without lower carriers.
    fileprivate static func made(_ destination: IPAddress, _ interface: NetworkInterface) -> Self {
        .init(
            destination: destination,
            status: interface.kind == .cellular ? .cellular : .wifi,
            interface: interface,
            carriers: [interface],
            outcome: .selected(.init(table: .main, nextHop: .init(interface: interface.index))),
            isExpensive: interface.kind == .cellular
        )
    }
}
