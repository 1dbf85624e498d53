/// The content of an `RTM_NEWADDR` or `RTM_DELADDR` message (rtnetlink(7), `include/uapi/linux/if_addr.h`).
package struct AddressMessage: Sendable, Hashable {
    /// `ifa_index`.
    package var index: InterfaceIndex
    /// This host's address: `IFA_LOCAL`, or `IFA_ADDRESS` if that is missing (IPv6).
    package var address: IPAddress
    /// The peer's address on a point-to-point interface: `IFA_ADDRESS` if it differs from ``address``.
    package var peer: IPAddress?
    /// `ifa_prefixlen`.
    package var prefixLength: UInt8
    /// `ifa_scope`.
    package var scope: RouteScope
    /// `IFA_FLAGS`, or `ifa_flags` if that is missing.
    package var flags: AddressFlags
    /// The preferred lifetime in seconds, from `IFA_CACHEINFO`; `UInt32.max` means forever.
    package var preferredLifetime: UInt32?
    /// The valid lifetime in seconds, from `IFA_CACHEINFO`; `UInt32.max` means forever.
    package var validLifetime: UInt32?

    /// Creates a message with what every address has.
    package init(
        index: InterfaceIndex,
        address: IPAddress,
        prefixLength: UInt8,
        scope: RouteScope = .universe,
        flags: AddressFlags = []
    ) {
        self.index = index
        self.address = address
        self.prefixLength = prefixLength
        self.scope = scope
        self.flags = flags
    }
}

/// `IFA_F_*`.
package struct AddressFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `IFA_F_SECONDARY` of an IPv4 address.
    package static let secondary = Self(rawValue: 0x01)
    /// `IFA_F_TEMPORARY` of an IPv6 address (RFC 8981); the same bit as ``secondary``.
    package static let temporary = Self(rawValue: 0x01)
    /// `IFA_F_NODAD`.
    package static let noDuplicateDetection = Self(rawValue: 0x02)
    /// `IFA_F_OPTIMISTIC` (RFC 4429).
    package static let optimistic = Self(rawValue: 0x04)
    /// `IFA_F_DADFAILED`.
    package static let duplicate = Self(rawValue: 0x08)
    /// `IFA_F_DEPRECATED`.
    package static let deprecated = Self(rawValue: 0x20)
    /// `IFA_F_TENTATIVE`.
    package static let tentative = Self(rawValue: 0x40)
    /// `IFA_F_PERMANENT`.
    package static let permanent = Self(rawValue: 0x80)
}

// MARK: - Decoding

extension AddressMessage {
    /// `sizeof(struct ifaddrmsg)`.
    static let bodySize = 8

    /// Decodes the payload of an `RTM_NEWADDR` or `RTM_DELADDR` message.
    ///
    /// Returns nil for a family other than IPv4 and IPv6, and for an address of another namespace, which a program
    /// requested with `IFA_TARGET_NETNSID`.
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
        var cursor = body.attributes(after: Self.bodySize)
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
        // IFA_ADDRESS is the peer's address if there is a peer; without IFA_LOCAL it is the address itself.
        address = local ?? prefix ?? address
        peer = prefix == address ? nil : prefix
    }

    /// Reads `struct ifa_cacheinfo`: preferred and valid lifetime in seconds, then two time stamps.
    private mutating func readLifetimes(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try attribute.require(16, "IFA_CACHEINFO")
        preferredLifetime = attribute.payload.load(0, bytes)
        validLifetime = attribute.payload.load(4, bytes)
    }
}

// MARK: - Encoding

extension AddressMessage {
    /// Appends `struct ifaddrmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(address.family.rawValue)
        builder.append(prefixLength)
        builder.append(UInt8(truncatingIfNeeded: flags.rawValue))
        builder.append(scope.rawValue)
        builder.append(index)
        builder.attribute(IFA.address, peer ?? address)
        builder.attribute(IFA.local, address)
        builder.attribute(IFA.flags, flags.rawValue)
        guard preferredLifetime != nil || validLifetime != nil else { return }
        builder.nested(IFA.cacheinfo, flagged: false) { cache in
            cache.append(preferredLifetime ?? .max)
            cache.append(validLifetime ?? .max)
            cache.append(UInt64(0))
        }
    }
}

// MARK: - Numbers

/// `IFA_*`: attributes of addresses (`if_addr.h`).
private enum IFA {
    static let address: UInt16 = 1
    static let local: UInt16 = 2
    static let cacheinfo: UInt16 = 6
    static let flags: UInt16 = 8
    static let targetNetnsid: UInt16 = 10
}
