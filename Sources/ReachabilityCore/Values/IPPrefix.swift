/// An address prefix in CIDR notation (RFC 4632, RFC 4291 section 2.3).
public struct IPPrefix: Sendable, Hashable {
    /// The prefix's first address.
    public let address: IPAddress
    /// The number of leading bits that count, 0 to 32 or 0 to 128.
    public let length: UInt8

    /// Creates a prefix; ``contains(_:)`` ignores the bits of the address after its length.
    public init(_ address: IPAddress, length: UInt8) {
        self.address = address
        self.length = length
    }

    /// Returns the prefix of length 0, which covers a whole family.
    public static func all(_ family: AddressFamily) -> Self {
        .init(.init(family: family, bits: 0), length: 0)
    }

    /// Returns whether an address is of this family and in this prefix.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        return length == 0 || (other.bits ^ address.bits) >> (128 - UInt128(length)) == 0
    }

    /// Whether the prefix covers all addresses of its family.
    var isAny: Bool { length == 0 && address.isUnspecified }

    /// The address with the bits after the prefix cleared.
    var network: UInt128 {
        length == 0 ? 0 : address.bits & (~0 << (128 - UInt128(length)))
    }

    /// Returns whether two prefixes of a family cover the same addresses.
    func isSame(as other: Self) -> Bool {
        length == other.length && network == other.network
    }
}

extension IPPrefix: CustomStringConvertible {
    /// The prefix in CIDR notation: `192.0.2.0/24`.
    public var description: String { "\(address)/\(length)" }
}
