import ArgumentParser
import CommandLineSupport
import ReachabilityCore

/// The state that is waited for, and what its path must be.
struct WaitedPath: Hashable {
    /// The state.
    let condition: StateArgument
    /// What the default path must be in it.
    let requirement: PathRequirement

    init(_ condition: StateArgument, _ requirement: PathRequirement = .any) {
        self.condition = condition
        self.requirement = requirement
    }

    /// Whether both can hold at once.
    ///
    /// - Throws: What contradicts what.
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

    /// What is waited for, in words.
    var words: String { requirement == .any ? condition.rawValue : "\(condition.rawValue), \(requirement.option)" }
}
