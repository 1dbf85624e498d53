public import ReachabilityCore

/// A condition for ``ReachabilityMonitor/wait(for:timeout:)``.
public struct WaitCondition: Sendable, Hashable {
    /// The states in which the condition holds.
    public let statuses: Set<ReachabilityStatus>
    /// The requirement that the path has to meet besides.
    public let requirement: PathRequirement

    private init(statuses: Set<ReachabilityStatus>, requirement: PathRequirement = .any) {
        self.statuses = statuses
        self.requirement = requirement
    }

    /// There is a usable default path, whatever carries it.
    public static let reachable = Self(statuses: [.cellular, .wifi])
    /// The best default path leaves through Wi-Fi, or through another link that is not cellular.
    public static let wifi = Self.status(.wifi)
    /// The best default path leaves through a cellular carrier.
    public static let cellular = Self.status(.cellular)
    /// There is no usable default path.
    public static let notReachable = Self.status(.notReachable)

    /// The machine is in one state.
    public static func status(_ status: ReachabilityStatus) -> Self { .init(statuses: [status]) }

    /// There is a usable default path, and it meets a requirement (``NetworkPath/meets(_:)``).
    public static func path(_ requirement: PathRequirement) -> Self {
        .init(statuses: reachable.statuses, requirement: requirement)
    }

    /// Whether a path meets the condition.
    public func isMet(by path: NetworkPath) -> Bool {
        statuses.contains(path.status) && (requirement == .any || path.meets(requirement))
    }
}

extension WaitCondition: CustomStringConvertible {
    /// `reachable`, or the states' names.
    public var description: String {
        let states =
            statuses == Self.reachable.statuses ? "reachable" : statuses.map(\.name).sorted().joined(separator: " or ")
        return requirement == .any ? states : "\(states), \(requirement)"
    }
}
