import CommandLineSupport
import LinuxSystem
import Locking
import NetwatchCore
import Reachability
import ReachabilityCore

/// Waits for the kernel's route to a host, whose name is resolved first, again and again while that fails.
struct HostWait {
    /// The host.
    let host: Host
    /// The state, and the text of the timeout error.
    let waiting: WaitOptions
    /// When to give up; nil for never.
    let deadline: Instant?

    /// Waits until it holds.
    func run(_ configuration: MonitorConfiguration) throws(ToolError) -> ExitStatus {
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(configuration, wakeup: wakeup) { _ in wakeup.signal() }
        let addresses = try addresses(session, in: configuration.namespace)
        let watcher = DestinationsWatcher(addresses, condition: waiting.condition, wakeup: session.wakeup)
        let watches = addresses.map { session.monitor.subscribe(to: $0, on: .immediate, watcher.note) }
        defer { for watch in watches { watch.cancel() } }
        while !watcher.hasHeld { try sleep(session, until: deadline, "the route to \(name) is not as requested") }
        return .success
    }

    private func addresses(_ session: MonitorSession, in namespace: NetworkNamespace) throws(ToolError) -> [IPAddress] {
        guard case .name(let name) = host else {
            if case .address(let address) = host { return [address] }
            return []
        }
        var pause = Self.shortestPause
        while true {
            let resolution = try HostResolver.resolve(name, in: namespace, during: session, until: deadline)
            guard case .failed(let why) = resolution else { return resolution.addresses }
            // The next change of the network may make the name server reachable.
            let retry = SystemClock.now.advanced(by: pause)
            let hasChanged = try sleep(session, until: retry, "\(self.name) cannot be resolved: \(why)")
            pause = hasChanged ? Self.shortestPause : min(pause * 2, Self.longestPause)
        }
    }

    /// Between two attempts to resolve a name.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    private var name: String {
        switch host {
        case .address(let address): address.description
        case .name(let name): "'\(name.escapedForTerminal)'"
        }
    }

    /// Sleeps; true if something has changed.
    ///
    /// - Throws: The timeout error, which names the missing condition.
    @discardableResult
    private func sleep(_ session: MonitorSession, until moment: Instant?, _ words: String) throws(ToolError) -> Bool {
        let end = [moment, deadline].compactMap(\.self).min()
        let awakening = try session.next(until: end)
        if awakening == .deadline, let deadline, SystemClock.now >= deadline { throw waiting.timeUp(words) }
        return awakening == .wakeup
    }
}

/// Checks the routes to a host's addresses for the condition; the event thread writes, the main thread reads.
final class DestinationsWatcher: Sendable {
    private let record: Lock<DestinationsRecord>
    private let wakeup: Wakeup

    init(_ addresses: [IPAddress], condition: StateArgument, wakeup: Wakeup) {
        record = .init(.init(addresses, condition: condition))
        self.wakeup = wakeup
    }

    /// Whether the condition has held at some time.
    var hasHeld: Bool { record.withLock { $0.hasHeld } }

    /// Takes the route to one address as it is now.
    func note(_ path: DestinationPath) {
        let holds = record.withLock { record in
            record.note(path)
            return record.hasHeld
        }
        if holds { wakeup.signal() }
    }
}

/// The states of the routes to a host's addresses, as far as they are known.
struct DestinationsRecord: Hashable {
    private let condition: StateArgument
    private let addresses: [IPAddress]
    private var states: [IPAddress: ReachabilityStatus] = [:]
    /// Whether the condition has held at some time: for all addresses if it is `notReachable`, otherwise for any.
    private(set) var hasHeld = false

    init(_ addresses: [IPAddress], condition: StateArgument) {
        self.addresses = addresses
        self.condition = condition
    }

    /// Takes the route to one of them.
    ///
    /// While its device is being identified, whether it is cellular is not known yet; a change follows.
    mutating func note(_ path: DestinationPath) {
        let isUndecided = condition != .reachable && path.isReachable && path.reasons.contains(.deviceProbing)
        note(isUndecided ? .unknown : path.status, of: path.destination)
    }

    /// Takes the state of one of them.
    mutating func note(_ status: ReachabilityStatus, of address: IPAddress) {
        states[address] = status
        let holding = addresses.filter { states[$0].map(condition.holds) ?? false }
        if condition == .notReachable ? holding.count == addresses.count : !holding.isEmpty { hasHeld = true }
    }
}
