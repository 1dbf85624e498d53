extension RouteMessage {
    /// `sizeof(struct rtmsg)`.
    static let bodySize = 12

    /// Reads the payload of an `RTM_NEWROUTE` or `RTM_DELROUTE`; nil if it is of another family than IPv4 and IPv6.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)) else { return nil }
        let destinationLength = try body.prefixLength(1, family, bytes, "rtm_dst_len")
        let sourceLength = try body.prefixLength(2, family, bytes, "rtm_src_len")
        let any = IPAddress(family: family, bits: 0)
        self.init(
            destination: .init(any, length: destinationLength),
            table: .init(rawValue: UInt32(body.byte(4, bytes)))
        )
        source = .init(any, length: sourceLength)
        tos = body.byte(3, bytes)
        origin = body.byte(5, bytes)
        scope = .init(rawValue: body.byte(6, bytes))
        type = .init(rawValue: body.byte(7, bytes))
        flags = body.load(8, bytes)
        var only = LegReading(family: family)
        var cursor = body.attributes(behind: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            if try !only.read(attribute, bytes) { try read(attribute, family, bytes) }
        }
        if legs.isEmpty, only.isPresent {
            legs = [only.leg(flags: .init(rawValue: flags & LegFlags.ofRoutes))]
        }
    }

    private mutating func read(
        _ attribute: NetlinkAttribute,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        switch attribute.type {
        case RTA.table: table = .init(rawValue: try attribute.integer(bytes, "RTA_TABLE"))
        case RTA.priority: metric = try attribute.integer(bytes, "RTA_PRIORITY")
        case RTA.dst:
            destination = .init(try attribute.address(family, bytes, "RTA_DST"), length: destination.length)
        case RTA.src: source = .init(try attribute.address(family, bytes, "RTA_SRC"), length: source.length)
        case RTA.prefsrc: preferredSource = try attribute.address(family, bytes, "RTA_PREFSRC")
        case RTA.pref: preference = .init(rawValue: try attribute.integer(bytes, "RTA_PREF")) ?? .medium
        case RTA.nhID: nexthopID = try attribute.integer(bytes, "RTA_NH_ID")
        case RTA.mark: mark = try attribute.integer(bytes, "RTA_MARK")
        case RTA.cacheinfo: try readLifetime(attribute, bytes)
        case RTA.multipath: legs = try RouteLeg.list(attribute, family, bytes)
        default: break
        }
    }

    /// Reads `struct rta_cacheinfo`, whose `rta_expires` counts hundredths of a second and is negative once expired.
    private mutating func readLifetime(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        try attribute.require(32, "RTA_CACHEINFO")
        let ticks: Int32 = attribute.payload.load(8, bytes)
        lifetime = ticks == 0 ? nil : .milliseconds(10 * Int64(max(0, ticks)))
    }
}

extension LegFlags {
    /// The bits of `rtm_flags` that are `RTNH_F_*`; above them `RTM_F_*` begin.
    static let ofRoutes: UInt32 = 0xFF
}
