/// Collects the attributes of one leg, which a route with one leg has among its own.
struct LegReading {
    /// The family of the route.
    let family: AddressFamily
    private var interface: InterfaceIndex?
    private var gateway: IPAddress?

    init(family: AddressFamily) { self.family = family }

    /// Whether anything of a leg was found.
    var isPresent: Bool { interface != nil || gateway != nil }

    /// Takes an attribute that belongs to a leg; false for another.
    @inline(__always)
    mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) -> Bool {
        switch attribute.type {
        case RTA.oif: interface = try attribute.integer(bytes, "RTA_OIF")
        case RTA.gateway: gateway = try attribute.address(family, bytes, "RTA_GATEWAY")
        case RTA.via: try readVia(attribute, bytes)
        default: return false
        }
        return true
    }

    /// The leg, with what is said outside its attributes.
    func leg(interface index: InterfaceIndex? = nil, weight: UInt16 = 1, flags: LegFlags) -> RouteLeg {
        .init(interface: index ?? interface ?? 0, gateway: gateway, weight: weight, flags: flags)
    }

    /// Reads `struct rtvia`: a gateway of another family, after its number; families without addresses are left out.
    private mutating func readVia(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let number: UInt16 = try attribute.integer(bytes, "RTA_VIA")
        guard let family = UInt8(exactly: number).flatMap(AddressFamily.init) else { return }
        gateway = try attribute.address(family, bytes, "RTA_VIA", at: 2)
    }
}

extension RouteLeg {
    /// `sizeof(struct rtnexthop)`.
    static let headSize = 8

    /// Reads `RTA_MULTIPATH`: entries of `struct rtnexthop`, each with attributes of its own.
    static func list(
        _ attribute: NetlinkAttribute,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> [Self] {
        var legs: [Self] = []
        var position = attribute.payload.start
        let end = attribute.payload.end
        while end - position >= headSize {
            let rest = WireRegion(start: position, end: end, isForeign: attribute.payload.isForeign)
            let length: UInt16 = rest.load(0, bytes)
            guard length >= headSize, Int(length) <= rest.count else {
                let fault = NetlinkDecodeError.Fault.invalidEntryLength(
                    attribute: "RTA_MULTIPATH",
                    length: length,
                    available: rest.count
                )
                throw .init(fault, at: position)
            }
            legs.append(
                try entry(.init(start: position, end: position + Int(length), isForeign: rest.isForeign), family, bytes)
            )
            position += (Int(length) + 3) & ~3
        }
        return legs
    }

    private static func entry(
        _ region: WireRegion,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> Self {
        var reading = LegReading(family: family)
        var cursor = region.attributes(behind: headSize)
        while let attribute = try cursor.next(bytes) { _ = try reading.read(attribute, bytes) }
        return reading.leg(
            interface: region.load(4, bytes),
            weight: UInt16(region.byte(3, bytes)) + 1,
            flags: .init(rawValue: UInt32(region.byte(2, bytes)))
        )
    }
}
