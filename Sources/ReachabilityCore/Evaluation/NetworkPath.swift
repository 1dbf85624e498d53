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

    /// Why there is no path, and what is wrong with the one there is.
    public var reasons: [Reason] {
        get { shared.fields.reasons }
        set { shared.fields.reasons = newValue }
    }

    /// Whether traffic may cost money by its volume: a carrier is cellular, is declared so, or shows a sign of it.
    ///
    /// The signs are an iPhone's USB tethering and Bluetooth, where a phone's own connection is shared.
    public var isExpensive: Bool {
        get { shared.fields.isExpensive }
        set { shared.fields.isExpensive = newValue }
    }

    /// Whether the path is declared as one to be used sparingly; the system itself tells nothing of the kind.
    public var isConstrained: Bool {
        get { shared.fields.isConstrained }
        set { shared.fields.isConstrained = newValue }
    }

    /// What the radios of WiFi carriers tell, if they were asked (`ReachabilityMonitor.detailedPath(timeout:)`).
    ///
    /// It changes all the time, and is no part of what is compared.
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
        reasons: [Reason] = [],
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
        var reasons: [Reason]
        var isExpensive: Bool
        var isConstrained: Bool
        var wifi = Uncompared<[WiFiDetails]>([])
    }
}

/// A value beside others that does not count when they are compared.
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

    /// The next hop; nil if destinations are taken to be on the link.
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

/// An interface as paths name it.
public struct NetworkInterface: Sendable, Hashable {
    /// The kernel's number.
    public var index: InterfaceIndex
    /// Its name at the time.
    public var name: String
    /// What it is.
    public var kind: InterfaceKind
    /// How that is known.
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
    /// The verdict over both families: reachable if either is usable; metered if either path may be.
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
    private static func status(
        _ ipv4: ReachabilityStatus?,
        _ ipv6: ReachabilityStatus?
    ) -> ReachabilityStatus {
        guard let one = ipv4 ?? ipv6 else { return .notReachable }
        guard let other = ipv6 else { return one }
        return other.rawValue < one.rawValue ? other : one
    }

    /// What is wrong with the families that have a path; where none has, why not.
    ///
    /// A machine that has only one family is whole: why it lacks the other is for the family's own evaluation to tell.
    private static func reasons(_ ipv4: FamilyEvaluation, _ ipv6: FamilyEvaluation) -> [Reason] {
        let isReachable = ipv4.path != nil || ipv6.path != nil
        var reasons = isReachable && ipv4.path == nil ? [] : ipv4.reasons
        guard !isReachable || ipv6.path != nil else { return reasons }
        for reason in ipv6.reasons where !reasons.contains(reason) { reasons.append(reason) }
        return reasons
    }
}
