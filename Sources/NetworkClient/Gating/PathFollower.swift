import NIOCore
import NetworkClientCore
import Reachability
import ReachabilityCore
import RequestGate

/// A connection whose path is followed.
///
/// Confined to the session's event loop, which each entry checks.
protocol PathFollowing: AnyObject {
    /// What is to become of it when its path goes; nil while no request uses it.
    var pathLossPolicy: PathLossPolicy? { get }
    /// When the last byte came.
    var lastByte: NIODeadline { get }

    /// Its path is lost; it is followed no more.
    func pathWasLost(_ loss: PathLoss)
}

/// Why a connection is given up.
enum PathLoss: Sendable, Hashable {
    /// Nobody uses it, and its path is not what it was.
    case idle
    /// Its address, or its interface, has gone.
    case addressGone
    /// Its route or its carrier has gone, and nothing has come for so long.
    case silent(Duration, [ReachabilityReason])
    /// Its interface does not meet the requirement any more.
    case notAllowed
}

/// The two ends of a connection, and what it may use.
struct ConnectionEnds: Sendable, Hashable {
    var local: IPAddress
    var remote: IPAddress
    /// Whether its socket is bound to the interface.
    var isBound: Bool
    var requirement: PathRequirement
}

/// Sees after each change what has become of the paths of connections, and gives up those that have lost theirs.
///
/// Confined to the session's event loop, which each entry checks.
final class PathFollower {
    private final class Followed {
        let connection: any PathFollowing
        let ends: ConnectionEnds
        /// By which it leaves, as it was found at first; nil while that could not be told.
        var interface: NetworkInterface?
        /// Since when its path is not as it was.
        var since: NIODeadline?
        var timer: Scheduled<Void>?

        init(_ connection: any PathFollowing, _ ends: ConnectionEnds) {
            self.connection = connection
            self.ends = ends
        }
    }

    private let memory: PathMemory
    private let loop: any EventLoop
    private var followed: [ObjectIdentifier: Followed] = [:]

    init(_ memory: PathMemory, _ loop: any EventLoop) {
        self.memory = memory
        self.loop = loop
    }

    var isEmpty: Bool { followed.isEmpty }

    /// The addresses whose routes matter.
    var destinations: Set<IPAddress> { Set(followed.values.map(\.ends.remote)) }

    /// Follows a connection from now on; gives the address whose routes matter, or nil if it stays on this machine.
    func add(_ connection: any PathFollowing, _ ends: ConnectionEnds) -> IPAddress? {
        loop.preconditionInEventLoop()
        guard !ends.remote.isLoopback else { return nil }
        let one = Followed(connection, ends)
        guard !staysOnThisMachine(one) else { return nil }
        followed[ObjectIdentifier(connection)] = one
        return ends.remote
    }

    /// Finds out by which interface a connection leaves, unless it does not leave at all.
    private func staysOnThisMachine(_ one: Followed) -> Bool {
        guard memory.connectivity.status != .unknown,
            let path = try? memory.path(to: one.ends.remote, requiring: one.ends.requirement)
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
    }

    func networkChanged() {
        loop.preconditionInEventLoop()
        for one in Array(followed.values) where followed[ObjectIdentifier(one.connection)] === one { review(one) }
    }

    private func review(_ one: Followed) {
        guard let interface = one.interface else {
            if staysOnThisMachine(one) { remove(one.connection) }
            return
        }
        guard memory.connectivity.status != .unknown, let path = try? path(of: one.ends, interface) else { return }
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
            give(one, time, from: start, .silent(time, memory.connectivity.path.reasons))
        }
    }

    /// Gives up a connection when its time is over, and looks again until then.
    private func give(_ one: Followed, _ time: Duration, from start: NIODeadline, _ loss: PathLoss) {
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
        one.connection.pathWasLost(loss)
    }

    private func path(of ends: ConnectionEnds, _ interface: NetworkInterface) throws -> ConnectionPath {
        let own = try memory.path(to: ends.local, requiring: .any)
        let requirement = ends.isBound ? PathRequirement.interface(interface.name) : .any
        let way = try memory.path(to: ends.remote, requiring: requirement)
        let isSame = way.isReachable && way.interface?.index == interface.index
        let isAllowed =
            !isSame || ends.requirement.allows(interface, over: way.carriers, isExpensive: way.isExpensive)
        return .init(hasAddress: own.staysOnThisMachine, hasRoute: isSame, isAllowed: isAllowed)
    }
}
