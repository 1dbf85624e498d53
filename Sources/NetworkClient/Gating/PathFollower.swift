import NIOCore
import NetworkClientCore
import Reachability
package import ReachabilityCore
import RequestGate

/// A connection whose path is followed.
///
/// Confined to the session's event loop, which each entry checks.
protocol PathFollowing: AnyObject {
    /// The reaction to the loss of its path; nil while no request uses it.
    var pathLossPolicy: PathLossPolicy? { get }
    /// The time when the last byte was received.
    var lastByte: NIODeadline { get }

    /// Called when its path may be lost: makes its peer send something if it can.
    func probe()
    /// Called when its path is lost; it is no longer followed.
    ///
    /// - Parameters:
    ///   - loss: The reason for giving it up.
    ///   - restoration: The return of a path, before which nothing may be sent on it, not even its end; nil to close it
    ///     immediately.
    func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?)
}

extension PathFollowing {
    func probe() {}
}

/// The reason for giving up a connection.
package enum PathLoss: Sendable, Hashable {
    /// No request uses it, and its path has changed.
    case idle
    /// Its address or its interface no longer exists.
    case addressGone
    /// Its route or its carrier is lost, and nothing was received for this long.
    case silent(Duration, [ReachabilityReason])
    /// Its interface no longer meets the requirement.
    case notAllowed
}

/// The addresses of both ends of a connection, and the requirement on its path.
struct ConnectionEnds: Sendable, Hashable {
    var local: IPAddress
    var remote: IPAddress
    /// Whether its socket is bound to the interface.
    var isBound: Bool
    var requirement: PathRequirement
}

/// Checks the paths of connections after each change of the network, and gives up those that have lost theirs.
///
/// Confined to the session's event loop, which each entry checks.
final class PathFollower {
    private final class Followed {
        let connection: any PathFollowing
        let ends: ConnectionEnds
        /// The egress interface, as it was first found; nil while it is unknown.
        var interface: NetworkInterface?
        /// The time since which its path is not as it was.
        var since: NIODeadline?
        var timer: Scheduled<Void>?

        init(_ connection: any PathFollowing, _ ends: ConnectionEnds) {
            self.connection = connection
            self.ends = ends
        }
    }

    private let cache: PathCache
    private let loop: any EventLoop
    private var followed: [ObjectIdentifier: Followed] = [:]
    /// Completed when a path is back; nil if no connection waits for that to be closed.
    private var restoration: EventLoopPromise<Void>?

    init(_ cache: PathCache, _ loop: any EventLoop) {
        self.cache = cache
        self.loop = loop
    }

    deinit { restoration?.succeed() }

    /// Whether no change of the network matters.
    var isEmpty: Bool { followed.isEmpty && restoration == nil }

    /// The addresses whose routes matter.
    var destinations: Set<IPAddress> { Set(followed.values.map(\.ends.remote)) }

    /// Follows a connection; returns the address whose routes matter, or nil if the connection stays on this machine.
    func add(_ connection: any PathFollowing, _ ends: ConnectionEnds) -> IPAddress? {
        loop.preconditionInEventLoop()
        guard !ends.remote.isLoopback else { return nil }
        let one = Followed(connection, ends)
        guard !staysOnThisMachine(one) else { return nil }
        followed[ObjectIdentifier(connection)] = one
        return ends.remote
    }

    /// Determines the egress interface of a connection; returns whether it stays on this machine.
    private func staysOnThisMachine(_ one: Followed) -> Bool {
        guard cache.connectivity.status != .unknown,
            let path = try? cache.path(to: one.ends.remote, requiring: one.ends.requirement)
        else { return false }
        if path.isReachable { one.interface = path.interface }
        return path.staysOnThisMachine
    }

    func remove(_ connection: any PathFollowing) {
        followed.removeValue(forKey: ObjectIdentifier(connection))?.timer?.cancel()
    }

    func end() {
        for one in followed.values { one.timer?.cancel() }
        followed = [:]
        restore()
    }

    func networkChanged() {
        loop.preconditionInEventLoop()
        if cache.connectivity.status != .notReachable { restore() }
        for one in Array(followed.values) where followed[ObjectIdentifier(one.connection)] === one { review(one) }
    }

    private func review(_ one: Followed) {
        guard let interface = one.interface else {
            if staysOnThisMachine(one) { remove(one.connection) }
            return
        }
        guard cache.connectivity.status != .unknown, let path = try? path(of: one.ends, interface) else { return }
        guard let policy = one.connection.pathLossPolicy else {
            if RunningTable.verdict(onIdle: path) == .close { lose(one, .idle) }
            return
        }
        switch RunningTable.verdict(onRunning: path, policy) {
        case .keep:
            one.timer?.cancel()
            one.timer = nil
            one.since = nil
        case .notAllowed: lose(one, .notAllowed)
        case .closeUnlessRestored(let time): give(one, time, from: one.since ?? .now(), .addressGone)
        case .closeIfSilent(let time):
            let start = max(one.connection.lastByte, one.since ?? .now())
            give(one, time, from: start, .silent(time, cache.connectivity.path.reasons))
        }
    }

    /// Gives up a connection once the given time has passed, and checks it again until then.
    private func give(_ one: Followed, _ time: Duration, from start: NIODeadline, _ loss: PathLoss) {
        // Without any path, a probe would only make the kernel look for the neighbour, as below.
        if one.since == nil, cache.connectivity.status != .notReachable { one.connection.probe() }
        one.since = one.since ?? .now()
        let due = start + TimeAmount(time)
        guard due > .now() else { return lose(one, loss) }
        one.timer?.cancel()
        one.timer = loop.assumeIsolated().scheduleTask(deadline: due) { [weak self, weak one] in
            if let self, let one { review(one) }
        }
    }

    private func lose(_ one: Followed, _ loss: PathLoss) {
        remove(one.connection)
        one.connection.pathWasLost(loss, until: restoration(after: loss))
    }

    /// Returns the return of a path, if a connection should not be closed before.
    ///
    /// Without a carrier the routes remain, and what is sent makes the kernel look for the neighbour, which it repeats
    /// after a second (`retrans_time_ms` in arp(7)). Connections that are made when the carrier is back would wait for that.
    private func restoration(after loss: PathLoss) -> EventLoopFuture<Void>? {
        guard cache.connectivity.status == .notReachable else { return nil }
        switch loss {
        case .addressGone, .notAllowed: return nil
        case .idle, .silent:
            let promise = restoration ?? loop.makePromise(of: Void.self)
            restoration = promise
            return promise.futureResult
        }
    }

    private func restore() {
        restoration?.succeed()
        restoration = nil
    }

    private func path(of ends: ConnectionEnds, _ interface: NetworkInterface) throws -> ConnectionPath {
        let own = try cache.path(to: ends.local, requiring: .any)
        let requirement = ends.isBound ? PathRequirement.interface(interface.name) : .any
        let way = try cache.path(to: ends.remote, requiring: requirement)
        let isSame = way.isReachable && way.interface?.index == interface.index
        let isAllowed =
            !isSame || ends.requirement.allows(interface, over: way.carriers, isExpensive: way.isExpensive)
        return .init(hasAddress: own.staysOnThisMachine, hasRoute: isSame, isAllowed: isAllowed)
    }
}
