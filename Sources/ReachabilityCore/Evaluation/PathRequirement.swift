/// What a path must be, for those who may not use every one.
public enum PathRequirement: Sendable, Hashable {
    /// Any path will do.
    case any
    /// No carrier may be cellular.
    case notCellular
    /// All carriers must be WiFi.
    case wifi
    /// No carrier may cost by volume: none is cellular, a phone that shares its connection, or declared as expensive.
    case notExpensive
    /// Packets must leave through the interface with this name.
    case interface(String)

    /// Whether a path meets the requirement.
    ///
    /// - Parameters:
    ///   - interface: The interface of the route itself.
    ///   - carriers: The physical interfaces beneath it; none is known for a tunnel whose own path is unknown.
    ///   - isExpensive: Whether traffic may cost by its volume (``NetworkPath/isExpensive``).
    /// - Returns: Whether it may be used. What can't be told is not allowed where the requirement excludes something.
    public func allows(_ interface: NetworkInterface, over carriers: [NetworkInterface], isExpensive: Bool) -> Bool {
        if interface.kind == .loopback { return true }
        return switch self {
        case .any: true
        case .notCellular: !carriers.isEmpty && carriers.allSatisfy { $0.kind != .cellular }
        case .wifi: !carriers.isEmpty && carriers.allSatisfy { $0.kind == .wifi }
        case .notExpensive: !carriers.isEmpty && !isExpensive && carriers.allSatisfy { $0.kind != .cellular }
        case .interface(let name): interface.name == name
        }
    }
}
