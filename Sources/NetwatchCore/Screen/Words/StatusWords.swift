import ReachabilityCore

extension ReachabilityStatus {
    /// The state in words.
    var word: String { self == .notReachable ? "not reachable" : name }

    /// What decides about its colour.
    var role: Style.Role {
        switch self {
        case .wifi: .ok
        case .cellular: .warning
        case .notReachable: .bad
        case .unknown: .unknown
        }
    }
}
