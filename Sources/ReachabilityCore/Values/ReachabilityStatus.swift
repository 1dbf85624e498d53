/// Whether, and by what kind of carrier, the machine reaches the network.
///
/// The raw values are those of AFNetworking's `AFNetworkReachabilityStatus`.
public enum ReachabilityStatus: Int8, Sendable, Hashable, CaseIterable {
    /// Not started, still reading for the first time, or netlink can't be read; the reasons say which.
    case unknown = -1
    /// There is no usable default path.
    case notReachable = 0
    /// The best default path leaves through a cellular carrier.
    case cellular = 1
    /// The best default path leaves through WiFi, or through another link that is not cellular.
    case wifi = 2

    /// Whether there is a usable default path.
    public var isReachable: Bool { self == .cellular || self == .wifi }

    /// The name that the tool and its JSON use.
    public var name: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .cellular: "cellular"
        case .wifi: "wifi"
        }
    }
}
