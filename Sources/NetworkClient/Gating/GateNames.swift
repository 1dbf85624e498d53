import NIOCore
import RequestGate

/// The names that the gate looks up; results are kept until the network changes.
///
/// Addresses are valid until the default path changes, or until they are too old; then the name is looked up again. If
/// no name server responds, the name is looked up again after each change, and after a growing delay, since a name
/// server may recover.
///
/// Confined to the session's event loop.
final class GateNames {
    /// The state of a name.
    enum State {
        /// Not looked up.
        case notAsked
        /// Being looked up.
        case looking(NameQuery, since: NIODeadline)
        /// Its addresses, with port 0.
        case addresses([SocketAddress], since: NIODeadline)
        /// No name server responded.
        case temporaryFailure
        /// The name has no address, or can't be looked up.
        case failure
    }

    private struct Entry {
        var state = State.notAsked
        var pause = GateNames.firstPause
        var allowance = LookupRateLimiter()
        var timer: Scheduled<Void>?
    }

    private let resolver: NameResolver
    private let loop: any EventLoop
    /// The closure to call when the state of a name has changed, or it may be looked up again.
    private let learnt: (String) -> Void
    private var entries: [String: Entry] = [:]

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// The age at which addresses are looked up again; most DNS records live for a minute or more.
    private static let longestAge = TimeAmount.seconds(30)
    /// The age below which the resolver shares a lookup (``LookupScheduler/Configuration/stallThreshold``), with a
    /// margin.
    private static let shareable = TimeAmount.milliseconds(120)
    /// The timeout of a lookup: the maximum that the system's resolver takes with its default settings.
    private static let limit = Duration.seconds(30)

    init(_ resolver: NameResolver, _ loop: any EventLoop, learnt: @escaping (String) -> Void) {
        self.resolver = resolver
        self.loop = loop
        self.learnt = learnt
    }

    /// Returns the state of a name.
    func state(of host: String) -> State { entries[host]?.state ?? .notAsked }

    /// The number of names with a state.
    var count: Int { entries.count }

    /// Looks a name up, or does so later if there were too many lookups.
    func lookup(_ host: String) {
        var entry = entries[host] ?? Entry()
        entry.timer?.cancel()
        entry.timer = nil
        guard entry.allowance.take(at: .now()) else {
            entry.state = .temporaryFailure
            entry.timer = retry(host, after: Self.firstPause)
            entries[host] = entry
            return
        }
        let query = resolver.resolve(host, limit: Self.limit, on: loop)
        entry.state = .looking(query, since: .now())
        // The lookup may have failed already.
        entries[host] = entry
        let future = query.addresses
        future.assumeIsolated().whenComplete { [weak self] in self?.take($0, for: host, of: future) }
    }

    /// Looks a name up again if its addresses are too old; they stay in use meanwhile.
    func refreshIfOld(_ host: String) {
        guard case .addresses(let old, let since)? = entries[host]?.state, since + Self.longestAge < .now(),
            entries[host]?.allowance.take(at: .now()) == true
        else { return }
        entries[host]?.state = .addresses(old, since: .now())
        let query = resolver.resolve(host, limit: Self.limit, on: loop)
        query.addresses.assumeIsolated().whenSuccess { [weak self] addresses in
            guard let self, case .addresses? = entries[host]?.state else { return }
            entries[host]?.state = .addresses(addresses, since: .now())
            learnt(host)
        }
    }

    /// Discards states that may be invalid after a change of the network.
    ///
    /// - Parameters:
    ///   - isOtherPath: Whether the default path changed, and with it possibly the name servers.
    ///   - wanted: The names that requests wait for; all others are removed.
    func networkChanged(isOtherPath: Bool, wanted: Set<String>) {
        for (host, entry) in entries {
            switch entry.state {
            case .looking(_, let since): if isOtherPath { lookupAgain(host, after: since) }
            case .addresses: if isOtherPath { forget(host) }
            case .notAsked, .temporaryFailure, .failure: forget(host)
            }
            if !wanted.contains(host) { remove(host) }
        }
    }

    /// Removes all names except those that requests wait for.
    func keep(_ wanted: Set<String>) {
        for host in entries.keys where !wanted.contains(host) { remove(host) }
    }

    /// Removes everything.
    func end() { keep([]) }

    private func forget(_ host: String) {
        entries[host]?.timer?.cancel()
        entries[host]?.timer = nil
        entries[host]?.pause = Self.firstPause
        entries[host]?.state = .notAsked
    }

    /// Cancels a lookup that began before the network changed, and may never complete.
    ///
    /// The resolver shares a lookup that has just begun, so a young one is cancelled later.
    private func lookupAgain(_ host: String, after start: NIODeadline) {
        guard start + Self.shareable <= .now() else {
            guard entries[host]?.timer == nil else { return }
            entries[host]?.timer = loop.assumeIsolated().scheduleTask(deadline: start + Self.shareable) { [weak self] in
                self?.restart(host)
            }
            return
        }
        guard case .looking(let query, _)? = entries[host]?.state else { return }
        forget(host)
        query.cancelOutdated()
    }

    private func restart(_ host: String) {
        guard case .looking(_, let since)? = entries[host]?.state else { return }
        entries[host]?.timer = nil
        lookupAgain(host, after: since)
        learnt(host)
    }

    private func remove(_ host: String) {
        guard let entry = entries.removeValue(forKey: host) else { return }
        entry.timer?.cancel()
        if case .looking(let query, _) = entry.state { query.cancel() }
    }

    private func take(
        _ result: Result<[SocketAddress], any Error>,
        for host: String,
        of future: EventLoopFuture<[SocketAddress]>
    ) {
        guard case .looking(let query, _)? = entries[host]?.state, query.addresses === future else { return }
        entries[host]?.timer?.cancel()
        entries[host]?.timer = nil
        switch result {
        case .success(let addresses):
            entries[host]?.state = .addresses(addresses, since: .now())
            entries[host]?.pause = Self.firstPause
        case .failure(let error) where (error as? HTTPError)?.isTemporary == true:
            let pause = entries[host]?.pause ?? Self.firstPause
            entries[host]?.state = .temporaryFailure
            entries[host]?.pause = min(pause * 2, Self.longestPause)
            entries[host]?.timer = retry(host, after: pause)
        case .failure: entries[host]?.state = .failure
        }
        learnt(host)
    }

    private func retry(_ host: String, after pause: Duration) -> Scheduled<Void> {
        loop.assumeIsolated().scheduleTask(in: .init(pause)) { [weak self] in
            guard let self, case .temporaryFailure? = entries[host]?.state else { return }
            entries[host]?.timer = nil
            entries[host]?.state = .notAsked
            learnt(host)
        }
    }
}

extension HTTPError {
    /// Whether the lookup may succeed a little later.
    fileprivate var isTemporary: Bool { code == .nameTemporarilyUnresolvable || code == .resolveTimedOut }
}

/// Limits the lookups of a name on a network that changes constantly: a burst of ten, then ten per second.
struct LookupRateLimiter {
    private var count = Self.most
    private var refilled = NIODeadline.now()

    private static let most = 10

    mutating func take(at now: NIODeadline) -> Bool {
        let elapsed = (now - refilled).nanoseconds / 100_000_000
        if elapsed > 0 {
            count = min(Self.most, count + Int(min(elapsed, Int64(Self.most))))
            refilled = now
        }
        guard count > 0 else { return false }
        count -= 1
        return true
    }
}
