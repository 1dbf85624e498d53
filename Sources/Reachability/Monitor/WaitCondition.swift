public import ReachabilityCore

/// What ``ReachabilityMonitor/wait(for:timeout:)`` waits for.
public struct WaitCondition: Sendable, Hashable {
    /// The states in which the condition holds.
    public let statuses: Set<ReachabilityStatus>

    /// There is a usable default path, whatever carries it.
    public static let reachable = Self(statuses: [.cellular, .wifi])
    /// The best default path leaves through WiFi, or through another link that is not cellular.
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

/// The time was up before the condition held.
public struct WaitTimeout: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was waited for.
    public let condition: WaitCondition
    /// How long.
    public let timeout: Duration
    /// The path at the end, which tells why the condition does not hold.
    public let path: NetworkPath

    /// What was waited for, how long, and what is so instead.
    public var description: String {
        let reasons = path.reasons.map(\.rawValue).joined(separator: ", ")
        let state = reasons.isEmpty ? path.status.name : "\(path.status.name) (\(reasons))"
        return "not \(condition) within \(timeout): the state is \(state)"
    }
}
