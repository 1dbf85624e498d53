import ArgumentParser
import CommandLineSupport
import Locking
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// Shares a ``ConnectivityRecord`` between the event thread, which writes it, and the main thread.
final class ConditionWatcher: Sendable {
    private let record: Lock<ConnectivityRecord>

    init(_ awaited: WaitedPath) { record = .init(.init(awaited)) }

    /// The connectivity as it is known now.
    var current: ConnectivityRecord { record.withLock { $0 } }

    /// Takes the state as it is now; true if the condition holds.
    @discardableResult
    func note(_ path: NetworkPath) -> Bool {
        record.withLock { record in
            record.note(path)
            return record.holds
        }
    }

    /// Takes a report about the path, or that there is none; true if the condition holds.
    @discardableResult
    func note(_ report: ValidationSummary?) -> Bool {
        record.withLock { record in
            record.note(report)
            return record.holds
        }
    }

    /// Begins a new time to watch.
    func resetAbsence() { record.withLock { $0.resetAbsence() } }
}

/// The connectivity during a wait, or while a command runs.
struct ConnectivityRecord: Hashable {
    /// The awaited path.
    let awaited: WaitedPath
    /// The current path, once it is known.
    private(set) var path: NetworkPath?
    private var report: ValidationSummary?
    /// Whether it holds now.
    private(set) var holds = false
    /// Whether it did not hold at some time since ``resetAbsence()``; not to know is not to be away.
    private(set) var wasAway = false

    init(_ awaited: WaitedPath) { self.awaited = awaited }

    /// Takes the state as it is now.
    mutating func note(_ path: NetworkPath) {
        self.path = path
        evaluate()
    }

    /// Takes a report about the path, or that there is none.
    mutating func note(_ report: ValidationSummary?) {
        self.report = report
        evaluate()
    }

    /// The report, if it is about the current path.
    var currentReport: ValidationSummary? {
        guard let report, let path, report.isAbout(path) else { return nil }
        return report
    }

    private mutating func evaluate() {
        guard let path else { return }
        let hasPath = awaited.holds(for: path)
        holds = hasPath && (!awaited.needsValidation || currentReport?.verdict == .validated)
        if !hasPath, path.status != .unknown { wasAway = true }
        if awaited.needsValidation, currentReport?.verdict.isLimited == true { wasAway = true }
    }

    /// Begins a new time to watch, as when a command starts.
    mutating func resetAbsence() { wasAway = false }
}

/// The state to wait for, and the requirement on its path.
struct WaitedPath: Hashable {
    /// The state.
    let condition: StateArgument
    /// The requirement for the default path.
    let requirement: PathRequirement
    /// Whether the path must be validated.
    let needsValidation: Bool

    init(_ condition: StateArgument, _ requirement: PathRequirement = .any, needsValidation: Bool = false) {
        self.condition = condition
        self.requirement = requirement
        self.needsValidation = needsValidation
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
    var words: String {
        let words = requirement == .any ? condition.rawValue : "\(condition.rawValue), \(requirement.option)"
        return needsValidation ? words + ", --validated" : words
    }
}

extension PathRequirement {
    /// Whether an unbound program meets the requirement: it uses the default path of either family.
    func allows(_ path: NetworkPath) -> Bool {
        [path.ipv4, path.ipv6].compactMap(\.self).allSatisfy {
            allows($0.interface, over: $0.carriers, isExpensive: $0.isExpensive)
        }
    }
}
