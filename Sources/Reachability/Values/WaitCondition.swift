public import ReachabilityCore

/// A condition for ``ReachabilityMonitor/wait(for:timeout:)``.
public struct WaitCondition: Sendable, Hashable {
    /// The states in which the condition holds.
    public let statuses: Set<ReachabilityStatus>

    /// There is a usable default path, whatever carries it.
    public static let reachable = Self(statuses: [.cellular, .wifi])
    /// The best default path leaves through Wi-Fi, or through another link that is not cellular.
    public static let wifi = Self.status(.wifi)
    /// The best default path leaves through a cellular carrier.
    public static let cellular = Self.status(.cellular)
    /// There is no usable default path.
    public static let notReachable = Self.status(.notReachable)

    /// The machine is in one state.
    public static func status(_ status: ReachabilityStatus) -> Self {
        .init(statuses: [status])
    }

    /// Whether a state meets the condition.
    public func isMet(by status: ReachabilityStatus) -> Bool { statuses.contains(status) }
}

extension WaitCondition: CustomStringConvertible {
    /// `reachable`, or the states' names.
    public var description: String {
        if self == .reachable { return "reachable" }
        return statuses.map(\.name).sorted().joined(separator: " or ")
    }
}
