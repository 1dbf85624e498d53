/// What one `RTM_NEWADDR` or `RTM_DELADDR` said (rtnetlink(7), `include/uapi/linux/if_addr.h`).
public struct AddressMessage: Sendable, Hashable {
    /// `ifa_index`.
    public var index: InterfaceIndex
    /// The address of this host: `IFA_LOCAL`, or `IFA_ADDRESS` where that is missing (IPv6).
    public var address: IPAddress
    /// The other end of a point-to-point interface: `IFA_ADDRESS` where it differs from ``address``.
    public var peer: IPAddress?
    /// `ifa_prefixlen`.
    public var prefixLength: UInt8
    /// `ifa_scope`.
    public var scope: RouteScope
    /// `IFA_FLAGS`, or `ifa_flags` where that is missing.
    public var flags: AddressFlags
    /// `IFA_CACHEINFO`'s preferred lifetime in seconds; `UInt32.max` is for ever.
    public var preferredLifetime: UInt32?
    /// `IFA_CACHEINFO`'s valid lifetime in seconds; `UInt32.max` is for ever.
    public var validLifetime: UInt32?

    /// Makes a message from what every address has.
    public init(
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
public struct AddressFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt32
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `IFA_F_SECONDARY` of an IPv4 address.
    public static let secondary = Self(rawValue: 0x01)
    /// `IFA_F_TEMPORARY` of an IPv6 address (RFC 8981); the same bit as ``secondary``.
    public static let temporary = Self(rawValue: 0x01)
    /// `IFA_F_NODAD`.
    public static let noDuplicateDetection = Self(rawValue: 0x02)
    /// `IFA_F_OPTIMISTIC` (RFC 4429).
    public static let optimistic = Self(rawValue: 0x04)
    /// `IFA_F_DADFAILED`.
    public static let duplicate = Self(rawValue: 0x08)
    /// `IFA_F_DEPRECATED`.
    public static let deprecated = Self(rawValue: 0x20)
    /// `IFA_F_TENTATIVE`.
    public static let tentative = Self(rawValue: 0x40)
    /// `IFA_F_PERMANENT`.
    public static let permanent = Self(rawValue: 0x80)
}

/// `RT_SCOPE_*`: how far a route or an address reaches; the larger the number, the nearer.
public struct RouteScope: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number that the kernel writes.
    public let rawValue: UInt8
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Orders by the kernel's number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// `RT_SCOPE_UNIVERSE`.
    public static let universe = Self(rawValue: 0)
    /// `RT_SCOPE_SITE`.
    public static let site = Self(rawValue: 200)
    /// `RT_SCOPE_LINK`.
    public static let link = Self(rawValue: 253)
    /// `RT_SCOPE_HOST`.
    public static let host = Self(rawValue: 254)
    /// `RT_SCOPE_NOWHERE`.
    public static let nowhere = Self(rawValue: 255)
}

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
