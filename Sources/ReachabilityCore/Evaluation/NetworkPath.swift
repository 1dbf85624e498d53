/// The path that packets to the public internet take now, or why there is none.
public struct NetworkPath: Sendable, Hashable {
    private var shared: Shared<Fields>

    /// The state that follows from the path.
    public var status: ReachabilityStatus {
        get { shared.fields.status }
        set { shared.fields.status = newValue }
    }

    /// The interface of the route itself: that of the better family, IPv4 where both are as good.
    public var interface: NetworkInterface? {
        get { shared.fields.interface }
        set { shared.fields.interface = newValue }
    }

    /// The physical interfaces that carry it, beneath bridges, bonds, VLANs and tunnels.
    public var carriers: [NetworkInterface] {
        get { shared.fields.carriers }
        set { shared.fields.carriers = newValue }
    }

    /// The IPv4 default path, if usable.
    public var ipv4: FamilyPath? {
        get { shared.fields.ipv4 }
        set { shared.fields.ipv4 = newValue }
    }

    /// The IPv6 default path, if usable.
    public var ipv6: FamilyPath? {
        get { shared.fields.ipv6 }
        set { shared.fields.ipv6 = newValue }
    }

    /// The reasons why there is no path, or why it is limited.
    public var reasons: [ReachabilityReason] {
        get { shared.fields.reasons }
        set { shared.fields.reasons = newValue }
    }

    /// Whether traffic may be charged by volume: a carrier is cellular, declared expensive, or shows a sign of it.
    ///
    /// The signs are an iPhone's USB tethering and Bluetooth, where a phone's own connection is shared.
    public var isExpensive: Bool {
        get { shared.fields.isExpensive }
        set { shared.fields.isExpensive = newValue }
    }

    /// Whether the user declared the path as one to use sparingly; the system itself has no such setting.
    public var isConstrained: Bool {
        get { shared.fields.isConstrained }
        set { shared.fields.isConstrained = newValue }
    }

    /// The details of the Wi-Fi carriers' radios, if they were asked for
    /// (`ReachabilityMonitor.detailedPath(timeout:)`).
    ///
    /// They change all the time, and are not compared.
    public var wifi: [WiFiDetails] {
        get { shared.fields.wifi.value }
        set { shared.fields.wifi.value = newValue }
    }

    /// Makes a path.
    public init(
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        carriers: [NetworkInterface] = [],
        ipv4: FamilyPath? = nil,
        ipv6: FamilyPath? = nil,
        reasons: [ReachabilityReason] = [],
        isExpensive: Bool = false,
        isConstrained: Bool = false
    ) {
        shared = .init(
            .init(
                status: status,
                interface: interface,
                carriers: carriers,
                ipv4: ipv4,
                ipv6: ipv6,
                reasons: reasons,
                isExpensive: isExpensive,
                isConstrained: isConstrained
            )
        )
    }

    private struct Fields: Sendable, Hashable {
        var status: ReachabilityStatus
        var interface: NetworkInterface?
        var carriers: [NetworkInterface]
        var ipv4: FamilyPath?
        var ipv6: FamilyPath?
        var reasons: [ReachabilityReason]
        var isExpensive: Bool
        var isConstrained: Bool
        var wifi = Uncompared<[WiFiDetails]>([])
    }
}

extension NetworkPath {
    /// Whether an interface of a kind carries the path of a family, or is its route's own.
    ///
    /// Like `usesInterfaceType(_:)` of Apple's Network framework. A VPN over Wi-Fi uses both ``InterfaceKind/tunnel`` and
    /// ``InterfaceKind/wifi``; a path that is not reachable uses nothing.
    public func uses(_ kind: InterfaceKind) -> Bool {
        families.contains { path in path.interface.kind == kind || path.carriers.contains { $0.kind == kind } }
    }

    /// Whether the path meets a requirement: there is one, and every family's path meets it.
    public func meets(_ requirement: PathRequirement) -> Bool {
        !families.isEmpty
            && families.allSatisfy { path in
                requirement.allows(path.interface, over: path.carriers, isExpensive: path.isExpensive)
            }
    }

    private var families: [FamilyPath] { status.isReachable ? [ipv4, ipv6].compactMap(\.self) : [] }
}

/// A value that is not compared.
private struct Uncompared<Value: Sendable>: Sendable, Hashable {
    var value: Value

    init(_ value: Value) { self.value = value }

    static func == (left: Self, right: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// One family's default path.
public struct FamilyPath: Sendable, Hashable {
    private var shared: Shared<Fields>

    /// ``ReachabilityStatus/cellular`` or ``ReachabilityStatus/wifi``, by this family's own carriers.
    public var status: ReachabilityStatus {
        get { shared.fields.status }
        set { shared.fields.status = newValue }
    }

    /// The interface of the route itself.
    public var interface: NetworkInterface {
        get { shared.fields.interface }
        set { shared.fields.interface = newValue }
    }

    /// The physical interfaces that carry it.
    public var carriers: [NetworkInterface] {
        get { shared.fields.carriers }
        set { shared.fields.carriers = newValue }
    }

    /// The gateway; nil if destinations are on the link.
    public var gateway: IPAddress? {
        get { shared.fields.gateway }
        set { shared.fields.gateway = newValue }
    }

    /// The source address that the kernel selects.
    public var source: IPAddress {
        get { shared.fields.source }
        set { shared.fields.source = newValue }
    }

    /// The route's metric; lower wins.
    public var metric: UInt32 {
        get { shared.fields.metric }
        set { shared.fields.metric = newValue }
    }

    /// The table in which the route was found.
    public var table: RouteTableID {
        get { shared.fields.table }
        set { shared.fields.table = newValue }
    }

    /// The same as ``NetworkPath/isExpensive``, of this family.
    public var isExpensive: Bool {
        get { shared.fields.isExpensive }
        set { shared.fields.isExpensive = newValue }
    }

    /// The same as ``NetworkPath/isConstrained``, of this family.
    public var isConstrained: Bool {
        get { shared.fields.isConstrained }
        set { shared.fields.isConstrained = newValue }
    }

    /// Makes a family's path.
    public init(
        status: ReachabilityStatus,
        interface: NetworkInterface,
        carriers: [NetworkInterface],
        gateway: IPAddress?,
        source: IPAddress,
        metric: UInt32,
        table: RouteTableID,
        isExpensive: Bool = false,
        isConstrained: Bool = false
    ) {
        shared = .init(
            .init(
                status: status,
                interface: interface,
                carriers: carriers,
                gateway: gateway,
                source: source,
                metric: metric,
                table: table,
                isExpensive: isExpensive,
                isConstrained: isConstrained
            )
        )
    }

    private struct Fields: Sendable, Hashable {
        var status: ReachabilityStatus
        var interface: NetworkInterface
        var carriers: [NetworkInterface]
        var gateway: IPAddress?
        var source: IPAddress
        var metric: UInt32
        var table: RouteTableID
        var isExpensive: Bool
        var isConstrained: Bool
    }
}

/// A network interface as part of a path.
public struct NetworkInterface: Sendable, Hashable {
    /// The interface index.
    public var index: InterfaceIndex
    /// Its name at the time of the evaluation.
    public var name: String
    /// Its kind.
    public var kind: InterfaceKind
    /// The source of the kind.
    public var kindSource: KindSource

    /// Makes an interface's description.
    public init(index: InterfaceIndex, name: String, kind: InterfaceKind, kindSource: KindSource) {
        self.index = index
        self.name = name
        self.kind = kind
        self.kindSource = kindSource
    }
}

extension NetworkPath {
    /// Combines both families: reachable if either is usable; metered if either path may be.
    init(_ ipv4: FamilyEvaluation, _ ipv6: FamilyEvaluation) {
        self.init(
            status: Self.status(ipv4.path?.status, ipv6.path?.status),
            interface: ipv4.path?.interface ?? ipv6.path?.interface,
            carriers: ipv4.path?.carriers ?? ipv6.path?.carriers ?? [],
            ipv4: ipv4.path,
            ipv6: ipv6.path,
            reasons: Self.reasons(ipv4, ipv6),
            isExpensive: ipv4.path?.isExpensive ?? false || ipv6.path?.isExpensive ?? false,
            isConstrained: ipv4.path?.isConstrained ?? false || ipv6.path?.isConstrained ?? false
        )
    }

    /// The worse of the usable families' states: cellular if either is.
    private static func status(_ ipv4: ReachabilityStatus?, _ ipv6: ReachabilityStatus?) -> ReachabilityStatus {
        guard let one = ipv4 ?? ipv6 else { return .notReachable }
        guard let other = ipv6 else { return one }
        return other.rawValue < one.rawValue ? other : one
    }

    /// The reasons of the families that have a path; where none has, of both.
    ///
    /// A machine with a path of only one family is fully reachable: why it lacks the other is part of that family's
    /// evaluation.
    private static func reasons(_ ipv4: FamilyEvaluation, _ ipv6: FamilyEvaluation) -> [ReachabilityReason] {
        let isReachable = ipv4.path != nil || ipv6.path != nil
        var reasons = isReachable && ipv4.path == nil ? [] : ipv4.reasons
        guard !isReachable || ipv6.path != nil else { return reasons }
        for reason in ipv6.reasons where !reasons.contains(reason) { reasons.append(reason) }
        return reasons
    }
}

/// A requirement that a path has to meet.
public enum PathRequirement: Sendable, Hashable {
    /// Any path.
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
    /// - Returns: Whether it may be used. What is not known is not allowed where the requirement excludes something.
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

    /// Whether the kinds of interfaces decide.
    var isAboutKinds: Bool {
        switch self {
        case .notCellular, .wifi, .notExpensive: true
        case .any, .interface: false
        }
    }
}

/// The details of a Wi-Fi interface's network, at the moment at which the radio was asked.
///
/// Signal and frequency change all the time and without a message, so they are not part of the state.
public struct WiFiDetails: Sendable, Hashable {
    /// The interface.
    public var interface: NetworkInterface
    /// The network's name (SSID): 1 to 32 bytes of any value; nil if there is none.
    public var ssidBytes: [UInt8]?
    /// The access point's address (BSSID), 6 bytes; nil if the interface is not a station's, or not associated.
    public var accessPoint: [UInt8]?
    /// The centre of the primary channel, in MHz.
    public var frequency: UInt32?
    /// The strength of the access point's signal, in dBm: -30 is very strong, -90 very weak.
    public var signal: Int?

    /// Makes empty details of an interface.
    public init(interface: NetworkInterface) { self.interface = interface }

    /// Makes the details from nl80211's replies.
    ///
    /// - Parameters:
    ///   - interface: The interface.
    ///   - message: The reply to `NL80211_CMD_GET_INTERFACE`.
    ///   - stations: The replies to `NL80211_CMD_GET_STATION`.
    ///   - scan: The replies to `NL80211_CMD_GET_SCAN`: the kernel often knows its own network's name only from there.
    package init(
        _ interface: NetworkInterface,
        _ message: WirelessMessage,
        stations: [WirelessMessage],
        scan: [WirelessMessage] = []
    ) {
        self.interface = interface
        let own = scan.first(where: \.isOwnNetwork)
        ssidBytes = [message.ssid, own?.ssid].lazy.compactMap(\.self).first { !$0.isEmpty }
        frequency = message.frequency ?? own?.frequency
        // An interface that is not a station talks to many peers, none of which is its network.
        guard message.mode == .station || message.mode == .peerClient, let other = stations.first else { return }
        accessPoint = other.address
        // Drivers without a scale in dBm report numbers from 0 to 100.
        signal = other.signal.flatMap { $0 < 0 ? Int($0) : nil }
    }

    /// The network's name, if it is text: nil if it is not UTF-8 (IEEE 802.11 calls it bytes, and says UTF-8 of some).
    ///
    /// The owner of the access point chose it: it may contain control characters.
    public var ssid: String? { ssidBytes.flatMap { String(validating: $0, as: UTF8.self) } }

    /// The access point's address as text: `02:00:00:00:01:00`.
    public var bssid: String? { accessPoint.map { Hexadecimal.text($0, separator: ":") } }

    /// The network's name in hexadecimal digits, two for each byte.
    public var ssidHexadecimal: String? { ssidBytes.map { Hexadecimal.text($0, separator: "") } }

    private enum Hexadecimal {
        static func text(_ bytes: [UInt8], separator: String) -> String {
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined(separator: separator)
        }
    }
}
