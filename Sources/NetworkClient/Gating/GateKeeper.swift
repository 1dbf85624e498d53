import NIOCore
import ReachabilityCore
import RequestGate

/// Knows for each destination and requirement whether requests may go now: one judgement while the network stays as it
/// is.
///
/// ``GateTable`` decides; this asks for what it wants to know. The network is watched only while somebody waits, or has
/// asked since its last change, or connections are followed.
///
/// Names are looked up by the system's resolver, whose packets are bound to no interface. So with a requirement a name
/// is looked up only while an interface that meets it has a usable default path, and what it asks may still leave by
/// another.
///
/// Unchecked, because all but constants is touched on the session's event loop only, where it is made too.
final class GateKeeper: @unchecked Sendable {
    /// Whether requests may go.
    enum Verdict: Sendable, Equatable {
        /// They may, if their connections are bound so; to these addresses, where they were judged.
        case open(binding: LocalBinding, addresses: [SocketAddress]?)
        /// They may not; with what they wait for.
        case closed(GateWait)

        /// As without a gate.
        static let free = Self.open(binding: .unbound, addresses: nil)
    }

    private struct Waiting {
        var count = 0
        /// What those who wait know: by the verdict with which they began to wait, by ``refresh(_:)`` or by `onChange`,
        /// and by nothing else, so that nobody is left out when others ask.
        var told: Verdict?
    }

    private let connectivity: any Connectivity
    private let loop: any EventLoop
    private let onChange: (GateKey, Verdict) -> Void
    private let memory: PathMemory
    private let judge: GateJudge
    private let epochs: ConnectivityEpochs
    private let names: GateNames
    private let follower: PathFollower
    /// The keys that somebody waits for.
    private var waiting: [GateKey: Waiting] = [:]
    /// What was found since the last change.
    private var known: [GateKey: Verdict] = [:]
    /// The keys of which an attempt found no path although there should be one.
    private var doubted: Set<GateKey> = []
    private var lastPath: NetworkPath?

    /// So many judgements are kept of keys that nobody waits for.
    private static let capacity = 1_024

    init(
        connectivity: any Connectivity,
        resolver: NameResolver,
        loop: any EventLoop,
        onChange: @escaping (GateKey, Verdict) -> Void
    ) {
        let me = Reference()
        self.connectivity = connectivity
        self.loop = loop
        self.onChange = onChange
        epochs = ConnectivityEpochs(connectivity, loop) { me.keeper?.networkChanged() }
        names = GateNames(resolver, loop) { me.keeper?.learnt(of: $0) }
        memory = PathMemory(connectivity)
        judge = GateJudge(memory, names)
        follower = PathFollower(memory, loop)
        me.keeper = self
    }

    /// What closures know the keeper by, which do not keep it.
    private final class Reference {
        weak var keeper: GateKeeper?
    }

    /// Whether requests without a requirement need no judgement: there is a default path, or nobody knows; an atomic
    /// load.
    var isQuick: Bool { connectivity.status != .notReachable }

    /// Whether requests may go now.
    ///
    /// `closed` while a name is being looked up; anyone who wants to know what it comes to holds the key.
    func verdict(for key: GateKey) -> Verdict {
        loop.preconditionInEventLoop()
        if isFree(key) { return .free }
        // Anyone who has just seen the path change asks before the loop has heard of it.
        guard let verdict = known[key], connectivity.path == lastPath else { return judgeNow(key) }
        names.refreshIfOld(key.host)
        return verdict
    }

    /// Asks the kernel again, since an attempt found no path.
    ///
    /// - Returns: `closed` if the kernel really has none; `open` if another attempt may well succeed.
    func refresh(_ key: GateKey) -> Verdict {
        loop.preconditionInEventLoop()
        guard key.socketPath == nil else { return .free }
        doubted.insert(key)
        let verdict = judgeNow(key)
        // The one that asks tells the others.
        waiting[key]?.told = verdict
        return verdict
    }

    /// Somebody waits: the key is judged after each change, and its owner told; counted.
    func hold(_ key: GateKey) {
        loop.preconditionInEventLoop()
        listen()
        waiting[key, default: .init(told: isFree(key) ? .free : known[key])].count += 1
    }

    /// The owner has acted on a verdict that it asked for: what differs from this one is told from now on.
    func acknowledge(_ key: GateKey, _ verdict: Verdict) { waiting[key]?.told = verdict }

    /// One of those who waited does so no more.
    func letGo(_ key: GateKey) {
        loop.preconditionInEventLoop()
        guard let count = waiting[key]?.count else { return }
        if count > 1 { waiting[key]?.count = count - 1 } else { waiting[key] = nil }
    }

    /// Ends all that was begun, and tells nobody any more.
    func shutDown() {
        loop.preconditionInEventLoop()
        waiting = [:]
        known = [:]
        epochs.end()
        names.end()
        follower.end()
    }

    // MARK: Connections

    /// Gives a connection up as soon as its path is lost.
    func follow(_ connection: any PathFollowing, _ ends: ConnectionEnds) {
        loop.preconditionInEventLoop()
        guard let remote = follower.add(connection, ends) else { return }
        listen()
        epochs.need(CollectionOfOne(remote))
    }

    /// The connection is closed, or its owner is.
    func unfollow(_ connection: any PathFollowing) { follower.remove(connection) }

    // MARK: Judging

    /// Whether requests go without a judgement.
    private func isFree(_ key: GateKey) -> Bool {
        key.socketPath != nil || (key.requirement == .any && isQuick && !doubted.contains(key))
    }

    private func listen() {
        guard !epochs.isWatching else { return }
        lastPath = connectivity.path
        epochs.need(EmptyCollection())
    }

    private func judgeNow(_ key: GateKey) -> Verdict {
        // Before the kernel is asked, so that no change is missed between.
        listen()
        if known.count >= Self.capacity { forgetUnwanted() }
        let verdict = judge.verdict(for: key, isDoubted: doubted.contains(key))
        if case .open = verdict { doubted.remove(key) }
        known[key] = verdict
        epochs.need(judge.destinations(of: key))
        return verdict
    }

    private func forgetUnwanted() {
        known = known.filter { waiting[$0.key] != nil }
        doubted = doubted.filter { waiting[$0] != nil }
        names.keep(Set(waiting.keys.map(\.host)))
    }

    /// Judges again and tells, if the verdict changed.
    private func review(_ key: GateKey) {
        guard waiting[key] != nil else { return }
        let verdict = judgeNow(key)
        guard let told = waiting[key]?.told, told != verdict else {
            waiting[key]?.told = verdict
            return
        }
        waiting[key]?.told = verdict
        onChange(key, verdict)
    }

    private func networkChanged() {
        let path = connectivity.path
        memory.begin()
        defer { memory.end() }
        known = [:]
        doubted = doubted.filter { waiting[$0] != nil }
        names.networkChanged(isOtherPath: path != lastPath, wanted: Set(waiting.keys.map(\.host)))
        lastPath = path
        for key in Array(waiting.keys) { review(key) }
        follower.networkChanged()
        guard !waiting.isEmpty || !known.isEmpty || !follower.isEmpty else { return epochs.end() }
        epochs.keep(Set(known.keys.flatMap(judge.destinations)).union(follower.destinations))
    }

    private func learnt(of host: String) {
        known = known.filter { $0.key.host != host }
        for key in waiting.keys.filter({ $0.host == host }) { review(key) }
    }
}
