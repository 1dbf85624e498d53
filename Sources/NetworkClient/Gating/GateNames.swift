import NIOCore
import RequestGate

/// The names that the gate has to look up: once as long as the network stays as it is.
///
/// An answer holds until the default path changes, or until it is old; then the name is looked up again. Where no
/// name server answers it is looked up again after each change, and after a pause that grows, since a name server may
/// come back by itself.
///
/// Belongs to the session's event loop.
final class GateNames {
    /// What is known of a name.
    enum State {
        /// Nothing.
        case notAsked
        /// It is being looked up.
        case looking(NameQuery, since: NIODeadline)
        /// Its addresses, with port 0.
        case addresses([SocketAddress], since: NIODeadline)
        /// No name server answered.
        case temporaryFailure
        /// It has no address, or can't be looked up.
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
    /// What to do when more is known of a name, or it may be looked up again.
    private let learnt: (String) -> Void
    private var entries: [String: Entry] = [:]

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// Name servers give answers a life; most are a minute or more.
    private static let longestAge = TimeAmount.seconds(30)
    /// A lookup that is younger is shared by the resolver (``LookupScheduler/Configuration/stallThreshold``), and more.
    private static let shareable = TimeAmount.milliseconds(120)
    /// What the system's resolver takes at most, by its defaults.
    private static let limit = Duration.seconds(30)

    init(_ resolver: NameResolver, _ loop: any EventLoop, learnt: @escaping (String) -> Void) {
        self.resolver = resolver
        self.loop = loop
        self.learnt = learnt
    }

    /// What is known of a name.
    func state(of host: String) -> State { entries[host]?.state ?? .notAsked }

    /// How many names something is known of.
    var count: Int { entries.count }

    /// Looks a name up, or does so soon if that has happened too often.
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
        // It may have failed already.
        entries[host] = entry
        let answer = query.addresses
        answer.assumeIsolated().whenComplete { [weak self] in self?.take($0, for: host, of: answer) }
    }

    /// Looks a name up again if its addresses are old; they are good enough meanwhile.
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

    /// The network changed: forgets what may not hold any more.
    ///
    /// - Parameters:
    ///   - isOtherPath: Whether the default path changed, so that other name servers may be asked.
    ///   - wanted: The names that somebody waits for; the others are forgotten altogether.
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

    /// Forgets all names but those that somebody waits for.
    func keep(_ wanted: Set<String>) {
        for host in entries.keys where !wanted.contains(host) { remove(host) }
    }

    /// Forgets everything.
    func end() { keep([]) }

    private func forget(_ host: String) {
        entries[host]?.timer?.cancel()
        entries[host]?.timer = nil
        entries[host]?.pause = Self.firstPause
        entries[host]?.state = .notAsked
    }

    /// Gives a lookup up that was begun in another network, for whose answer it may wait in vain.
    ///
    /// The resolver lets several share a lookup that has just begun; so only once it is older.
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
        query.cancel()
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
        of answer: EventLoopFuture<[SocketAddress]>
    ) {
        guard case .looking(let query, _)? = entries[host]?.state, query.addresses === answer else { return }
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
    /// Whether a lookup may well succeed a little later.
    fileprivate var isTemporary: Bool { code == .nameTemporarilyUnresolvable || code == .resolveTimedOut }
}

/// Keeps a network that changes all the time from asking name servers all the time: ten at once, then ten a second.
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
