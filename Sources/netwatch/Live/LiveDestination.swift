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
    private var schedule = ResolutionSchedule(at: SystemClock.now)
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
        return [schedule.next, resolved.attemptDeadline].compactMap(\.self).min()
    }

    /// Notes that the network has changed: a name may have another resolution now.
    func noteChange() { schedule.noteNetworkChange(at: SystemClock.now) }

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
        resolved.checkAttempt(at: now)
        guard schedule.isDue(at: now) else { return }
        schedule.begin(at: now)
        resolved.beginAttempt(at: now)
        do throws(SystemError) {
            resolver = try .init(name, in: namespace, wakeup: wakeup)
        } catch {
            take(.failed("\(error)"), at: now)
        }
    }

    /// Takes a resolution; addresses that were known stay when the name cannot be resolved for now.
    private func take(_ resolution: HostResolver.Resolution, at now: Instant) {
        schedule.end(hasSucceeded: !resolution.addresses.isEmpty, at: now)
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
    /// When the attempt under way counts as failed; nil if it already does, or none is under way.
    private(set) var attemptDeadline: Instant?

    /// The time after which a pending resolution is reported.
    private static let attemptTimeout = Duration.seconds(10)

    /// Notes that an attempt begins.
    mutating func beginAttempt(at now: Instant) { attemptDeadline = now.advanced(by: Self.attemptTimeout) }

    /// Reports an attempt that takes too long, once; its result still counts.
    mutating func checkAttempt(at now: Instant) {
        if let attemptDeadline, attemptDeadline <= now { fail("no name server answered in time") }
    }

    /// Takes a resolution.
    ///
    /// - Returns: Which addresses are no longer among them, and which were not before.
    mutating func take(_ resolution: [IPAddress]) -> (gone: [IPAddress], new: [IPAddress]) {
        (failure, attemptDeadline) = (nil, nil)
        let gone = addresses.filter { !resolution.contains($0) }
        var new: [IPAddress] = []
        for address in resolution where !addresses.contains(address) && !new.contains(address) { new.append(address) }
        addresses = addresses.filter(resolution.contains) + new
        return (gone, new)
    }

    /// Notes that there is no resolution; addresses that were known stay.
    mutating func fail(_ why: String) { (failure, attemptDeadline) = (why, nil) }

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
