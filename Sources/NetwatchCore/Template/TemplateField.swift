public import ReachabilityCore

/// What a template can name.
public enum TemplateField: String, CaseIterable, Sendable, Hashable {
    /// When it was seen, in local time (RFC 3339).
    case time
    /// The same in UTC.
    case utc
    /// The state.
    case status
    /// The state before.
    case previous
    /// What kind of notice it is.
    case event
    /// Why, separated by commas.
    case reasons
    /// The path's interface.
    case interface
    /// Its kind.
    case kind
    /// The physical interfaces beneath, separated by commas.
    case carriers
    /// The IPv4 address that packets are sent from.
    case ipv4
    /// The IPv6 address that packets are sent from.
    case ipv6
    /// The next hop, of IPv4 if that has a path.
    case gateway
    /// The address that packets are sent from, of IPv4 if that has a path.
    case source
    /// The route's metric, of IPv4 if that has a path.
    case metric
    /// The notice's number.
    case seq
    /// Whether traffic may cost by its volume: `true` or `false`.
    case expensive
    /// Whether the path is to be used sparingly: `true` or `false`.
    case constrained
    /// The WiFi network's name, where the radio was asked.
    case ssid
    /// Its access point's address, where the radio was asked.
    case bssid
    /// The access point's signal in dBm, where the radio was asked.
    case signal

    /// The value in a notice; nil where there is none, and of the times, which are written by whoever has the clock.
    ///
    /// It may hold what a terminal would obey.
    public func value(in change: StateChange) -> String? {
        let path = change.path
        let family = path.ipv4 ?? path.ipv6
        return switch self {
        case .time, .utc: nil
        case .status: change.status.name
        case .previous: change.previous?.name
        case .event: change.event.rawValue
        case .reasons: Self.list(change.allReasons.map(\.rawValue))
        case .interface: path.interface?.name
        case .kind: path.interface?.kind.rawValue
        case .carriers: Self.list(path.carriers.map(\.name))
        case .ipv4: path.ipv4?.source.description
        case .ipv6: path.ipv6?.source.description
        case .gateway: family?.gateway?.description
        case .source: family?.source.description
        case .metric: family.map { String($0.metric) }
        case .seq: String(change.sequence)
        case .expensive: String(path.isExpensive)
        case .constrained: String(path.isConstrained)
        case .ssid: path.wifi.first.flatMap { $0.ssid ?? $0.ssidHexadecimal.map { "0x" + $0 } }
        case .bssid: path.wifi.first?.bssid
        case .signal: path.wifi.first?.signal.map(String.init)
        }
    }

    private static func list(_ words: [String]) -> String? { words.isEmpty ? nil : words.joined(separator: ",") }
}

extension StateChange {
    /// What caused the change, then why there is no path or what is wrong with it, each once.
    fileprivate var allReasons: [Reason] { reasons + path.reasons.filter { !reasons.contains($0) } }
}
