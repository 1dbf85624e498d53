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
