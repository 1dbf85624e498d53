/// Whether the machine can reach the network, and over which kind of carrier.
///
/// The raw values are those of AFNetworking's `AFNetworkReachabilityStatus`.
public enum ReachabilityStatus: Int8, Sendable, Hashable, CaseIterable {
    /// Not started, reading the kernel's tables for the first time, or unable to read netlink; the reasons say which.
    case unknown = -1
    /// There is no usable default path.
    case notReachable = 0
    /// The best default path leaves through a cellular modem.
    case cellular = 1
    /// The best default path leaves through Wi-Fi or another link that is not cellular.
    case wifi = 2

    /// Whether there is a usable default path.
    public var isReachable: Bool { self == .cellular || self == .wifi }

    /// The name in the tool's output and its JSON.
    public var name: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .cellular: "cellular"
        case .wifi: "wifi"
        }
    }
}
