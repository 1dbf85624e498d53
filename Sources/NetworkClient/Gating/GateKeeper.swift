import NIOCore
import ReachabilityCore
import RequestGate

/// Decides for each destination and requirement whether requests may start now; a verdict is cached until the network
/// changes.
///
/// ``GateTable`` makes the decision, and for keys that need a validated path ``ValidationTable``, whose verdict is not cached;
/// this type provides their input. The network is watched only while requests wait,
/// verdicts are cached, or connections are followed.
///
/// Names are looked up by the system's resolver, whose packets are bound to no interface. So with a requirement, a name
/// is looked up only while an interface that meets it has a usable default path; the resolver's packets may still leave
/// through another one.
///
/// Unchecked, because everything except constants is used on the session's event loop only, where it is also created.
final class GateKeeper: @unchecked Sendable {
    /// Whether requests may start.
    enum Verdict: Sendable, Equatable {
        /// They may, if their connections are bound as given; only to these addresses, if they were evaluated.
        case open(binding: LocalBinding, addresses: [SocketAddress]?)
        /// They may not; with what they wait for.
        case closed(GateWait)

        /// They may, as without a gate.
        static let free = Self.open(binding: .unbound, addresses: nil)

        /// Whether a lookup of a path has failed, and is to be repeated.
        fileprivate var isForLookup: Bool { if case .closed(let wait) = self { wait.isForLookup } else { false } }
    }

    private struct Waiting {
        var count = 0
        /// The verdict that the waiting requests last received: when they began to wait, from ``refresh(_:)`` or from
        /// `onChange`, and from nothing else, so that evaluations for other requests hide no change from them.
        var told: Verdict?
    }

    private let connectivity: any Connectivity
    private let loop: any EventLoop
    private let onChange: (GateKey, Verdict) -> Void
    private let cache: PathCache
    private let evaluator: GateEvaluator
    private let observer: ConnectivityObserver
    private let names: GateNames
    private let follower: PathFollower
    /// The validation of the path; nil in a session without.
    private let validation: ValidationObserver?
    /// The keys that requests wait for.
    private var waiting: [GateKey: Waiting] = [:]
    /// The verdicts since the last change of the network.
    private var known: [GateKey: Verdict] = [:]
    /// The keys for which an attempt found no path although the kernel reported one.
    private var keysToRevalidate: Set<GateKey> = []
    private var lastPath: NetworkPath?
    /// The next lookup after one that failed.
    private var retry: Scheduled<Void>?
    /// Whether connections could not be judged after the last change.
    private var isFollowingLate = false

    /// The maximum number of cached verdicts before those without waiting requests are dropped.
    private static let capacity = 1_024

    init(
        connectivity: any Connectivity,
        validation: (any PathValidation)? = nil,
        resolver: NameResolver,
        loop: any EventLoop,
        onChange: @escaping (GateKey, Verdict) -> Void
    ) {
        let me = Reference()
        self.connectivity = connectivity
        self.loop = loop
        self.onChange = onChange
        observer = ConnectivityObserver(connectivity, loop) { me.keeper?.networkChanged() }
        names = GateNames(resolver, loop) { me.keeper?.learnt(of: $0) }
        cache = PathCache(connectivity)
        evaluator = GateEvaluator(cache, names)
        follower = PathFollower(cache, loop)
        self.validation = validation.map { ValidationObserver($0, loop) { me.keeper?.validationChanged() } }
        me.keeper = self
    }

    /// A weak reference for the closures.
    private final class Reference {
        weak var keeper: GateKeeper?
    }

    /// Whether requests without a requirement need no evaluation: there is a default path, or the state is unknown.
    ///
    /// An atomic load.
    var isQuick: Bool { connectivity.status != .notReachable }

    /// Returns whether requests may start now.
    ///
    /// `closed` while a name is being looked up; to learn the result, hold the key.
    func verdict(for key: GateKey) -> Verdict {
        loop.preconditionInEventLoop()
        return validated(pathVerdict(for: key), key)
    }

    /// Returns the verdict without the validation of the path.
    private func pathVerdict(for key: GateKey) -> Verdict {
        if isFree(key) { return .free }
        // A caller may have seen a change of the path before the loop was notified.
        guard let verdict = known[key], connectivity.path == lastPath else { return evaluate(key) }
        names.refreshIfOld(key.host)
        return verdict
    }

    /// Returns the verdict that follows from that on the path and its validation.
    private func validated(_ verdict: Verdict, _ key: GateKey) -> Verdict {
        guard key.needsValidation, case .open = verdict, let obstacle = validation?.obstacle(for: key) else {
            return verdict
        }
        return .closed(.init(obstacle: obstacle, key: key))
    }

    /// Looks the path up again, because an attempt found none.
    ///
    /// - Returns: `closed` if the kernel has none; `open` if another attempt may succeed.
    func refresh(_ key: GateKey) -> Verdict {
        loop.preconditionInEventLoop()
        guard key.socketPath == nil else { return .free }
        keysToRevalidate.insert(key)
        let verdict = validated(evaluate(key), key)
        // The caller passes the verdict on to the other waiting requests.
        waiting[key]?.told = verdict
        return verdict
    }

    /// Counts a waiting request: the key is evaluated after each change, and `onChange` called when its verdict
    /// changes.
    func hold(_ key: GateKey) {
        loop.preconditionInEventLoop()
        listen()
        if key.needsValidation, waiting[key] == nil { validation?.hold() }
        let told = isFree(key) ? .free : known[key]
        waiting[key, default: .init(told: told.map { validated($0, key) })].count += 1
    }

    /// Records the verdict that the waiting requests received: `onChange` is called when it changes from this one.
    func acknowledge(_ key: GateKey, _ verdict: Verdict) { waiting[key]?.told = verdict }

    /// Stops counting one waiting request.
    func letGo(_ key: GateKey) {
        loop.preconditionInEventLoop()
        guard let count = waiting[key]?.count else { return }
        guard count == 1 else {
            waiting[key]?.count = count - 1
            return
        }
        waiting[key] = nil
        if key.needsValidation { validation?.letGo() }
    }

    /// Stops everything; `onChange` is not called again.
    func shutDown() {
        loop.preconditionInEventLoop()
        waiting = [:]
        known = [:]
        observer.end()
        validation?.end()
        names.end()
        follower.end()
        retry?.cancel()
    }

    // MARK: Connections

    /// Gives up a connection as soon as its path is lost.
    func follow(_ connection: any PathFollowing, _ ends: ConnectionEnds) {
        loop.preconditionInEventLoop()
        guard let remote = follower.add(connection, ends) else { return }
        listen()
        observer.need(CollectionOfOne(remote))
    }

    /// Stops following a connection.
    func unfollow(_ connection: any PathFollowing) { follower.remove(connection) }

    // MARK: Judging

    /// Whether requests may start without an evaluation.
    private func isFree(_ key: GateKey) -> Bool {
        key.socketPath != nil || (key.requirement == .any && isQuick && !keysToRevalidate.contains(key))
    }

    private func listen() {
        guard !observer.isWatching else { return }
        lastPath = connectivity.path
        observer.need(EmptyCollection())
    }

    private func evaluate(_ key: GateKey) -> Verdict {
        // Start watching before the lookup, so that no change is missed in between.
        listen()
        if known.count >= Self.capacity { forgetUnwanted() }
        let verdict = evaluator.verdict(for: key, needsRevalidation: keysToRevalidate.contains(key))
        if case .open = verdict { keysToRevalidate.remove(key) }
        known[key] = verdict
        observer.need(evaluator.destinations(of: key))
        if verdict.isForLookup { retryLater() }
        return verdict
    }

    private func retryLater() {
        guard retry == nil else { return }
        retry = loop.assumeIsolated().scheduleTask(in: .seconds(1)) { [weak self] in self?.retryLookups() }
    }

    /// Evaluates again what had failed lookups.
    private func retryLookups() {
        retry = nil
        cache.begin()
        defer { cache.end() }
        let failed = known.filter { $0.value.isForLookup }.keys
        for key in failed { known[key] = nil }
        for key in failed { review(key) }
        if isFollowingLate { followChange() }
    }

    /// Judges the connections after a change of the network; again later if their paths can't be looked up.
    private func followChange() {
        follower.networkChanged()
        isFollowingLate = cache.hasFailed && !follower.isEmpty
        if isFollowingLate { retryLater() }
    }

    private func forgetUnwanted() {
        known = known.filter { waiting[$0.key] != nil }
        keysToRevalidate = keysToRevalidate.filter { waiting[$0] != nil }
        names.keep(Set(waiting.keys.map(\.host)))
    }

    /// Evaluates a key again, and calls `onChange` if the verdict changed.
    private func review(_ key: GateKey) {
        guard waiting[key] != nil else { return }
        let verdict = validated(evaluate(key), key)
        guard let told = waiting[key]?.told, told != verdict else {
            waiting[key]?.told = verdict
            return
        }
        waiting[key]?.told = verdict
        onChange(key, verdict)
    }

    private func networkChanged() {
        let path = connectivity.path
        cache.begin()
        defer { cache.end() }
        known = [:]
        keysToRevalidate = keysToRevalidate.filter { waiting[$0] != nil }
        names.networkChanged(isOtherPath: path != lastPath, wanted: Set(waiting.keys.map(\.host)))
        lastPath = path
        for key in Array(waiting.keys) { review(key) }
        followChange()
        guard !waiting.isEmpty || !known.isEmpty || !follower.isEmpty else { return observer.end() }
        observer.keep(Set(known.keys.flatMap(evaluator.destinations)).union(follower.destinations))
    }

    private func validationChanged() {
        for key in Array(waiting.keys) where key.needsValidation { review(key) }
    }

    private func learnt(of host: String) {
        known = known.filter { $0.key.host != host }
        for key in waiting.keys.filter({ $0.host == host }) { review(key) }
    }
}
