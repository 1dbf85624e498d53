import NetworkClient
import Reachability

/// The cost of the machine's path, for lanes with a limit of bytes.
struct PathCost: Sendable {
    /// Returns the machine's path.
    let path: @Sendable () -> NetworkPath

    /// Whether the machine's path is expensive.
    var isExpensive: Bool { path().isExpensive }

    /// Returns what the path of an attempt must meet.
    ///
    /// The path may change between the decision on an attempt and its first byte. Where bytes are limited, an attempt that
    /// was not counted is therefore bound to paths that cost nothing.
    func requirement(of options: LaneOptions) -> PathRequirement {
        let isOpen = options.path == .any || options.path == .notCellular
        return options.bytesPerDay != nil && isOpen && path().meets(.notExpensive) ? .notExpensive : options.path
    }
}
