/// The content of an `RTM_NEWNETCONF` or `RTM_DELNETCONF` message (`include/uapi/linux/netconf.h`).
package struct NetconfMessage: Sendable, Hashable {
    /// `ncm_family`.
    package var family: AddressFamily
    /// `NETCONFA_IFINDEX`: an interface, ``allInterfaces`` or ``defaultInterface``.
    package var index: InterfaceIndex
    /// `NETCONFA_FORWARDING`.
    package var forwarding: Bool?
    /// `NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN`.
    package var ignoresRoutesWithLinkDown: Bool?

    /// Creates a message.
    package init(family: AddressFamily, index: InterfaceIndex) {
        self.family = family
        self.index = index
    }

    /// `NETCONFA_IFINDEX_ALL`.
    package static let allInterfaces: InterfaceIndex = -1
    /// `NETCONFA_IFINDEX_DEFAULT`.
    package static let defaultInterface: InterfaceIndex = -2
}

// MARK: - Decoding

extension NetconfMessage {
    /// `sizeof(struct netconfmsg)`.
    static let bodySize = 1

    /// Decodes the payload of an `RTM_NEWNETCONF` or `RTM_DELNETCONF` message.
    ///
    /// Returns nil for a family other than IPv4 and IPv6, such as MPLS.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)) else { return nil }
        self.init(family: family, index: 0)
        var found: InterfaceIndex?
        var cursor = body.attributes(after: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case NETCONFA.ifindex: found = try attribute.integer(bytes, "NETCONFA_IFINDEX")
            case NETCONFA.forwarding:
                forwarding = try attribute.integer(bytes, "NETCONFA_FORWARDING") != (0 as Int32)
            case NETCONFA.ignoreRoutesWithLinkdown:
                let value: Int32 = try attribute.integer(bytes, "NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN")
                ignoresRoutesWithLinkDown = value != 0
            default: break
            }
        }
        guard let found else { throw .init(.missingAttribute("NETCONFA_IFINDEX"), at: body.start) }
        index = found
    }
}

// MARK: - Encoding

extension NetconfMessage {
    /// Appends `struct netconfmsg` and the settings.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family.rawValue)
        builder.attribute(NETCONFA.ifindex, index: index)
        if let forwarding { builder.attribute(NETCONFA.forwarding, forwarding ? 1 : 0 as UInt32) }
        if let ignoresRoutesWithLinkDown {
            builder.attribute(NETCONFA.ignoreRoutesWithLinkdown, ignoresRoutesWithLinkDown ? 1 : 0 as UInt32)
        }
    }
}

// MARK: - Numbers

/// `NETCONFA_*`: attributes of settings (`netconf.h`).
private enum NETCONFA {
    static let ifindex: UInt16 = 1
    static let forwarding: UInt16 = 2
    static let ignoreRoutesWithLinkdown: UInt16 = 6
}
