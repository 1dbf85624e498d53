/// An IPv4 or IPv6 address as a value.
///
/// Both families lie left-aligned in the same 128 bits, so that prefix arithmetic is one shift and one
/// comparison whatever the family.
public struct IPAddress: Sendable, Hashable {
    /// The family that tells how many of the bits count.
    public let family: AddressFamily
    /// The address, most significant bit first; IPv4 fills the upper 32 bits, the rest is zero.
    public let bits: UInt128

    /// Makes an address from left-aligned bits.
    public init(family: AddressFamily, bits: UInt128) {
        self.family = family
        self.bits = bits
    }

    /// Makes an IPv4 address from its host-order value (`0xC0000201` is 192.0.2.1).
    public init(ipv4 value: UInt32) {
        self.init(family: .ipv4, bits: UInt128(value) << 96)
    }

    /// The host-order value of an IPv4 address; of an IPv6 address, its first 32 bits.
    public var ipv4Value: UInt32 { UInt32(truncatingIfNeeded: bits >> 96) }

    /// 0.0.0.0 or ::, which stands for 'no address yet'.
    public var isUnspecified: Bool { bits == 0 }

    /// 127.0.0.0/8 (RFC 1122, 3.2.1.3) or ::1 (RFC 4291, 2.5.3).
    public var isLoopback: Bool {
        family == .ipv4 ? bits >> 120 == 127 : bits == 1
    }

    /// 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291, 2.7).
    public var isMulticast: Bool {
        family == .ipv4 ? bits >> 124 == 0xE : bits >> 120 == 0xFF
    }

    /// 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291, 2.5.6).
    public var isLinkLocal: Bool {
        family == .ipv4 ? bits >> 112 == 0xA9FE : bits >> 118 == 0x3FA
    }
}

/// An address prefix in CIDR notation (RFC 4632, RFC 4291 section 2.3).
public struct IPPrefix: Sendable, Hashable {
    /// The prefix's first address.
    public let address: IPAddress
    /// How many leading bits count, 0 to 32 or 0 to 128.
    public let length: UInt8

    /// Makes a prefix; bits of the address behind the length are ignored by ``contains(_:)``.
    public init(_ address: IPAddress, length: UInt8) {
        self.address = address
        self.length = length
    }

    /// The prefix of length 0 that covers a whole family.
    public static func all(_ family: AddressFamily) -> Self {
        .init(.init(family: family, bits: 0), length: 0)
    }

    /// Whether an address of the same family lies in this prefix.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        return length == 0 || (other.bits ^ address.bits) >> (128 - UInt128(length)) == 0
    }
}
