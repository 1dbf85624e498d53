import ArgumentParser
import CommandLineSupport
import ReachabilityCore
import Synchronization

/// Shares a ``ConnectivityRecord`` between the event thread, which writes it, and the main thread.
final class ConditionWatcher: Sendable {
    private let record: Mutex<ConnectivityRecord>

    init(_ awaited: WaitedPath) { record = .init(.init(awaited)) }

    /// The awaited path.
    var awaited: WaitedPath { record.withLock { $0.awaited } }

    /// The current path, once it is known.
    var path: NetworkPath? { record.withLock { $0.path } }

    /// Whether it holds now.
    var holds: Bool { record.withLock { $0.holds } }

    /// Whether it did not hold at some time since ``resetAbsence()``.
    var wasAway: Bool { record.withLock { $0.wasAway } }

    /// Takes the state as it is now; true if the condition holds.
    @discardableResult
    func note(_ path: NetworkPath) -> Bool {
        record.withLock { record in
            record.note(path)
            return record.holds
        }
    }

    /// Begins a new time to watch.
    func resetAbsence() {
        record.withLock { $0.resetAbsence() }
    }
}

/// The connectivity during a wait, or while a command runs.
struct ConnectivityRecord: Hashable {
    /// The awaited path.
    let awaited: WaitedPath
    /// The current path, once it is known.
    private(set) var path: NetworkPath?
    /// Whether it holds now.
    private(set) var holds = false
    /// Whether it did not hold at some time since ``resetAbsence()``; not to know is not to be away.
    private(set) var wasAway = false

    init(_ awaited: WaitedPath) { self.awaited = awaited }

    /// Takes the state as it is now.
    mutating func note(_ path: NetworkPath) {
        self.path = path
        holds = awaited.holds(for: path)
        if !holds, path.status != .unknown { wasAway = true }
    }

    /// Begins a new time to watch, as when a command starts.
    mutating func resetAbsence() {
        wasAway = false
    }
}

/// The state to wait for, and the requirement on its path.
struct WaitedPath: Hashable {
    /// The state.
    let condition: StateArgument
    /// The requirement for the default path.
    let requirement: PathRequirement

    init(_ condition: StateArgument, _ requirement: PathRequirement = .any) {
        self.condition = condition
        self.requirement = requirement
    }

    /// Checks that the state and the requirement do not contradict each other.
    ///
    /// - Throws: An error that names the contradiction.
    func validate() throws(ValidationError) {
        guard requirement != .any else { return }
        switch condition {
        case .reachable, .wifi: return
        case .cellular: throw .init("--for cellular waits for what \(requirement.option) excludes; leave one out")
        case .notReachable: throw .init("--for notReachable waits for no path at all; leave out \(requirement.option)")
        }
    }

    /// Whether both hold.
    func holds(for path: NetworkPath) -> Bool { condition.holds(for: path.status) && requirement.allows(path) }

    /// The description for messages.
    var words: String { requirement == .any ? condition.rawValue : "\(condition.rawValue), \(requirement.option)" }
}

extension PathRequirement {
    /// Whether an unbound program meets the requirement: it uses the default path of either family.
    func allows(_ path: NetworkPath) -> Bool {
        [path.ipv4, path.ipv6].compactMap(\.self).allSatisfy {
            allows($0.interface, over: $0.carriers, isExpensive: $0.isExpensive)
        }
    }
}
