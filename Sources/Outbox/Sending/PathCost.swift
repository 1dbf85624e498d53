import NetworkClient
import Reachability

/// The cost of the machine's path, for lanes with a limit of bytes.
struct PathCost: Sendable {
    /// Returns the machine's path.
    let path: @Sendable () -> NetworkPath

    /// Returns whether the bytes of a lane count, because they may cost by volume.
    ///
    /// A lane that demands an interface, or Wi-Fi, may use another path than the machine's, whose cost is not known here.
    func isExpensive(for options: LaneOptions) -> Bool {
        let path = path()
        return switch options.path {
        case .any, .notCellular: path.isExpensive
        case .notExpensive: false
        case .wifi, .interface: path.isExpensive || !path.meets(options.path)
        }
    }

    /// Returns what the path of an attempt must meet.
    ///
    /// The path may change between the decision on an attempt and its first byte. Where bytes are limited, an attempt that
    /// was not counted is therefore bound to paths that cost nothing.
    func requirement(of options: LaneOptions) -> PathRequirement {
        let isOpen = options.path == .any || options.path == .notCellular
        return options.bytesPerDay != nil && isOpen && path().meets(.notExpensive) ? .notExpensive : options.path
    }
}
