package import ReachabilityCore

/// When a name is resolved: immediately, after changes of the network, soon again after failures, and at intervals.
///
/// One attempt at a time: each costs a thread until the system's resolver gives up by itself.
package struct ResolutionSchedule: Sendable, Hashable {
    /// When the next attempt begins; nil while one is under way.
    package private(set) var next: Instant?
    /// Before this no attempt begins.
    private var earliest: Instant
    private var hasNetworkChanged = false
    private var retryInterval = Self.minimumInterval

    /// The shortest interval between two attempts, and the first one after a failure; doubled by each further failure.
    static let minimumInterval = Duration.seconds(1)
    /// The longest interval after a failure.
    static let maximumInterval = Duration.seconds(30)
    /// The interval after a success: the system's resolver does not report times to live.
    static let refreshInterval = Duration.seconds(300)

    /// Creates a schedule whose first attempt is due.
    package init(at now: Instant) {
        next = now
        earliest = now
    }

    /// Whether an attempt is due.
    package func isDue(at now: Instant) -> Bool { next.map { $0 <= now } ?? false }

    /// Notes that an attempt begins.
    package mutating func begin(at now: Instant) {
        next = nil
        hasNetworkChanged = false
        earliest = now.advanced(by: Self.minimumInterval)
    }

    /// Notes that the attempt has ended.
    package mutating func end(hasSucceeded: Bool, at now: Instant) {
        next = now.advanced(by: hasSucceeded ? Self.refreshInterval : retryInterval)
        retryInterval = hasSucceeded ? Self.minimumInterval : min(retryInterval * 2, Self.maximumInterval)
        if hasNetworkChanged { noteNetworkChange(at: now) }
    }

    /// Notes that the network has changed: the name may have other addresses now, or a name server be reachable.
    package mutating func noteNetworkChange(at now: Instant) {
        retryInterval = Self.minimumInterval
        guard let planned = next else {
            hasNetworkChanged = true
            return
        }
        next = min(planned, max(now, earliest))
    }
}

/// The addresses of a host, and the paths to them, as they become known.
struct HostAddresses: Sendable {
    private let host: String
    /// In the order in which they were resolved first: name servers rotate theirs, which means nothing.
    private var addresses: [IPAddress] = []
    private var paths: [IPAddress: DestinationPath] = [:]
    private var error: ReachabilityError?
    private var reported: HostPath?

    /// Creates a host without addresses.
    init(host: String) { self.host = host }

    /// Takes the name's current addresses.
    ///
    /// - Returns: The addresses that are no longer among them, and those that are new.
    mutating func resolve(to current: [IPAddress]) -> (gone: [IPAddress], new: [IPAddress]) {
        error = nil
        let gone = addresses.filter { !current.contains($0) }
        let new = current.filter { !addresses.contains($0) }
        addresses = addresses.filter(current.contains) + new
        for address in gone { paths[address] = nil }
        return (gone, new)
    }

    /// Notes that the name cannot be resolved; known addresses stay.
    mutating func fail(_ error: ReachabilityError) { self.error = error }

    /// Takes the path to one of the addresses.
    mutating func update(_ path: DestinationPath) {
        if addresses.contains(path.destination) { paths[path.destination] = path }
    }

    /// The value to report, if it has changed; nil while the path to an address is not known.
    mutating func takeChange() -> HostPath? {
        let known = addresses.compactMap { paths[$0] }
        guard known.count == addresses.count, !known.isEmpty || error != nil else { return nil }
        let value = HostPath(host: host, paths: known, resolutionError: error)
        guard value != reported else { return nil }
        reported = value
        return value
    }
}
