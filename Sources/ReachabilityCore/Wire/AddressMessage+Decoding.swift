extension AddressMessage {
    /// `sizeof(struct ifaddrmsg)`.
    static let bodySize = 8

    /// Reads the payload of an `RTM_NEWADDR` or `RTM_DELADDR`; nil if it is of another family than IPv4 and IPv6.
    ///
    /// nil also for an address of another namespace, about which a program asked with `IFA_TARGET_NETNSID`.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)) else { return nil }
        self.init(
            index: body.load(4, bytes),
            address: .init(family: family, bits: 0),
            prefixLength: try body.prefixLength(1, family, bytes, "ifa_prefixlen"),
            scope: .init(rawValue: body.byte(3, bytes)),
            flags: .init(rawValue: UInt32(body.byte(2, bytes)))
        )
        var local: IPAddress?
        var prefix: IPAddress?
        var cursor = body.attributes(behind: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case IFA.local: local = try attribute.address(family, bytes, "IFA_LOCAL")
            case IFA.address: prefix = try attribute.address(family, bytes, "IFA_ADDRESS")
            case IFA.flags: flags = .init(rawValue: try attribute.integer(bytes, "IFA_FLAGS"))
            case IFA.cacheinfo: try readLifetimes(attribute, bytes)
            case IFA.targetNetnsid: return nil
            default: break
            }
        }
        // IFA_ADDRESS is the other end where there is one; without IFA_LOCAL it is the address itself.
        address = local ?? prefix ?? address
        peer = prefix == address ? nil : prefix
    }

    /// Reads `struct ifa_cacheinfo`: preferred and valid lifetime in seconds, then two time stamps.
    private mutating func readLifetimes(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        try attribute.require(16, "IFA_CACHEINFO")
        preferredLifetime = attribute.payload.load(0, bytes)
        validLifetime = attribute.payload.load(4, bytes)
    }
}

extension WireRegion {
    /// The prefix length at a distance from the start, checked against the family's width.
    @inline(__always)
    func prefixLength(
        _ offset: Int,
        _ family: AddressFamily,
        _ bytes: RawSpan,
        _ name: String
    ) throws(NetlinkDecodeError) -> UInt8 {
        let length = byte(offset, bytes)
        guard length <= family.bitWidth else {
            throw .init(.invalidPrefixLength(name, length), at: start + offset)
        }
        return length
    }
}
