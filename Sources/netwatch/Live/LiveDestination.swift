import CommandLineSupport
import LinuxSystem
import Locking
import NetwatchCore
import Reachability
import ReachabilityCore

/// The route to one host of `--to`: its name is resolved, and each of its addresses watched.
///
/// Confined to the main thread; the event thread's updates pass through ``Routes``.
final class LiveDestination {
    private let host: Host
    private let monitor: ReachabilityMonitor
    private let namespace: NetworkNamespace
    private let wakeup: Wakeup
    private var schedule = ResolutionSchedule()
    private var resolver: HostResolver?
    private var resolved = ResolvedAddresses()
    private var watches: [IPAddress: Subscription] = [:]
    private let routes: Routes
    private var reported: DestinationState?

    init(_ host: Host, _ monitor: ReachabilityMonitor, _ namespace: NetworkNamespace, _ wakeup: Wakeup) {
        self.host = host
        self.monitor = monitor
        self.namespace = namespace
        self.wakeup = wakeup
        routes = .init(wakeup)
        if case .address(let address) = host { watch([address]) }
    }

    /// When to check again without an update; nil for never.
    var deadline: Instant? {
        guard case .name = host else { return nil }
        return schedule.deadline
    }

    /// Notes that the network has changed: a name may have another resolution now.
    func noteChange() {
        schedule.noteChange(at: SystemClock.now)
    }

    /// Returns the current state; nil if it has not changed.
    func update() -> DestinationState? {
        if case .name(let name) = host { resolve(name) }
        let state = resolved.state(routes.known, after: reported)
        guard state != reported else { return nil }
        reported = state
        return state
    }

    /// Returns the lines of `netwatch explain HOST`.
    func explanation(_ names: InterfaceNames) -> [String] {
        let known = routes.known
        let lines = resolved.addresses.compactMap { known[$0] }.flatMap { DestinationText.lines($0, names: names) }
        guard case .name(let name) = host else { return lines }
        return ["\(name.escapedForTerminal):" + (resolved.failure.map { " " + $0 } ?? "")] + lines
    }

    private func resolve(_ name: String) {
        let now = SystemClock.now
        if let resolution = resolver?.resolution {
            resolver = nil
            take(resolution, at: now)
        }
        if schedule.isOverdue(at: now) { resolved.fail("no name server answered in time") }
        guard schedule.isDue(at: now) else { return }
        schedule.noteStart(at: now)
        do throws(SystemError) {
            resolver = try .init(name, in: namespace, wakeup: wakeup)
        } catch {
            take(.failed("\(error)"), at: now)
        }
    }

    /// Takes a resolution; addresses that were known stay when the name cannot be resolved for now.
    private func take(_ resolution: HostResolver.Resolution, at now: Instant) {
        schedule.noteEnd(hasSucceeded: !resolution.addresses.isEmpty, at: now)
        guard case .failed(let why) = resolution else { return watch(resolution.addresses) }
        resolved.fail(why)
    }

    private func watch(_ addresses: [IPAddress]) {
        let change = resolved.take(addresses)
        for address in change.gone {
            watches.removeValue(forKey: address)?.cancel()
            routes.forget(address)
        }
        for address in change.new { watches[address] = monitor.subscribe(to: address, on: .immediate, routes.note) }
    }

    /// The paths to the addresses, as the event thread reports them.
    private final class Routes: Sendable {
        private let paths = Lock<[IPAddress: DestinationPath]>([:])
        private let wakeup: Wakeup

        init(_ wakeup: Wakeup) { self.wakeup = wakeup }

        /// The last reported path of each address.
        var known: [IPAddress: DestinationPath] { paths.withLock { $0 } }

        /// Takes the path to one address.
        func note(_ path: DestinationPath) {
            paths.withLock { $0[path.destination] = path }
            wakeup.signal()
        }

        /// One is no longer watched.
        func forget(_ address: IPAddress) { paths.withLock { $0[address] = nil } }
    }
}

/// The resolved addresses of a host, and the state that follows from them.
struct ResolvedAddresses: Hashable {
    /// The addresses, in the order in which they first appeared: servers rotate theirs, which means nothing.
    private(set) var addresses: [IPAddress] = []
    /// Why there is no newer resolution.
    private(set) var failure: String?

    /// Takes a resolution.
    ///
    /// - Returns: Which addresses are no longer among them, and which were not before.
    mutating func take(_ resolution: [IPAddress]) -> (gone: [IPAddress], new: [IPAddress]) {
        failure = nil
        let gone = addresses.filter { !resolution.contains($0) }
        var new: [IPAddress] = []
        for address in resolution where !addresses.contains(address) && !new.contains(address) { new.append(address) }
        addresses = addresses.filter(resolution.contains) + new
        return (gone, new)
    }

    /// Notes that there is no resolution; addresses that were known stay.
    mutating func fail(_ why: String) { failure = why }

    /// The state.
    ///
    /// - Parameters:
    ///   - known: The routes that are known.
    ///   - before: The state until now; it lasts until the routes to all new addresses are known.
    /// - Returns: The state.
    func state(_ known: [IPAddress: DestinationPath], after before: DestinationState?) -> DestinationState {
        let routes = addresses.compactMap { address in known[address].map(DestinationRoute.init) }
        if case .paths? = before, routes.count < addresses.count { return before ?? .resolving }
        if !routes.isEmpty { return .paths(routes) }
        return failure.map(DestinationState.failed) ?? .resolving
    }
}

extension DestinationRoute {
    /// Makes the route that the live view shows.
    fileprivate init(_ path: DestinationPath) {
        self.init(to: path.destination, status: path.status, interface: path.interface, reasons: path.reasons)
        guard case .selected(let selection) = path.outcome else { return }
        gateway = selection.nextHop.gateway
        source = selection.nextHop.source
    }
}

/// When a name is resolved: immediately, after changes of the network, soon again after failures, and at intervals.
///
/// One attempt at a time: a resolution may take half a minute, and each that is awaited costs a thread.
struct ResolutionSchedule: Hashable {
    /// When the next attempt begins; nil while one is under way.
    private var next: Instant? = .init(nanoseconds: 0)
    /// When the attempt under way counts as failed; nil if it already does, or none is under way.
    private var resolutionDeadline: Instant?
    private var earliest = Instant(nanoseconds: 0)
    private var hasChanged = false
    private var pause = Self.shortestPause

    /// Between two attempts.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// The time for which a resolution is used: the system's resolver does not report times to live.
    private static let refresh = Duration.seconds(300)
    /// The time after which a pending resolution is reported.
    private static let resolutionTimeout = Duration.seconds(10)

    /// When to look again.
    var deadline: Instant? { [next, resolutionDeadline].compactMap(\.self).min() }

    /// Whether an attempt is to begin.
    func isDue(at now: Instant) -> Bool { next.map { $0 <= now } ?? false }

    /// Whether the attempt under way has just begun to count as failed.
    mutating func isOverdue(at now: Instant) -> Bool {
        guard let end = resolutionDeadline, end <= now else { return false }
        resolutionDeadline = nil
        return true
    }

    /// Notes that an attempt begins.
    mutating func noteStart(at now: Instant) {
        next = nil
        hasChanged = false
        earliest = now.advanced(by: Self.shortestPause)
        resolutionDeadline = now.advanced(by: Self.resolutionTimeout)
    }

    /// Notes that an attempt has ended.
    mutating func noteEnd(hasSucceeded: Bool, at now: Instant) {
        resolutionDeadline = nil
        next = now.advanced(by: hasSucceeded ? Self.refresh : pause)
        pause = hasSucceeded ? Self.shortestPause : min(pause * 2, Self.longestPause)
        if hasChanged { noteChange(at: now) }
    }

    /// Notes that the network has changed, which may make the name server reachable.
    mutating func noteChange(at now: Instant) {
        pause = Self.shortestPause
        guard let planned = next else {
            hasChanged = true
            return
        }
        next = min(planned, max(now, earliest))
    }
}
