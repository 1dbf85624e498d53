import ArgumentParser
import ReachabilityCore

/// What `--for` waits for.
enum StateArgument: String, CaseIterable, ExpressibleByArgument {
    /// Any usable path.
    case reachable
    /// WiFi, or another path that is not cellular.
    case wifi
    /// A cellular path.
    case cellular
    /// No usable path.
    case notReachable

    /// Whether a state is what is waited for; `unknown` never is.
    func holds(for status: ReachabilityStatus) -> Bool {
        switch self {
        case .reachable: status.isReachable
        case .wifi: status == .wifi
        case .cellular: status == .cellular
        case .notReachable: status == .notReachable
        }
    }
}
