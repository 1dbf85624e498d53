/// An IPv6 prefix behind which a translator reaches IPv4 addresses: NAT64 (RFC 6052).
///
/// A network without IPv4 announces it in a router advertisement (RFC 8781), or answers `ipv4only.arpa` with it (RFC 7050).
public struct NAT64Prefix: Sendable, Hashable {
    /// The prefix; its length is 32, 40, 48, 56, 64 or 96, and the bits after it are zero.
    public let prefix: IPPrefix

    /// Creates a prefix, clearing the bits after its length; nil if RFC 6052 does not allow that length.
    public init?(_ prefix: IPPrefix) {
        guard prefix.address.family == .ipv6, Self.lengths.contains(prefix.length) else { return nil }
        self.prefix = .init(.init(family: .ipv6, bits: prefix.network), length: prefix.length)
    }

    /// `64:ff9b::/96`, the prefix that translators use unless they are told another.
    public static let wellKnown = Self(wellKnown: .init(family: .ipv6, bits: 0x0064_FF9B << 96))

    private init(wellKnown address: IPAddress) { prefix = .init(address, length: 96) }

    /// The lengths that RFC 6052 allows.
    private static let lengths: [UInt8] = [32, 40, 48, 56, 64, 96]

    /// Returns the IPv6 address under which the translator reaches an IPv4 address; nil for an IPv6 address.
    ///
    /// Bits 64 to 71 stay zero (RFC 6052, 2.2).
    public func address(for destination: IPAddress) -> IPAddress? {
        guard destination.family == .ipv4 else { return nil }
        let value = UInt128(destination.ipv4Value)
        let head = (value >> tailWidth) << headShift
        return .init(family: .ipv6, bits: prefix.address.bits | head | tail(of: value))
    }

    /// Returns the IPv4 address that an IPv6 address stands for; nil if it is not in the prefix, or not formed as RFC 6052
    /// demands.
    public func embeddedAddress(in address: IPAddress) -> IPAddress? {
        guard prefix.contains(address) else { return nil }
        let head = address.bits >> headShift & mask(32 - tailWidth)
        let rest = address.bits >> tailShift & mask(tailWidth)
        let found = IPAddress(ipv4: UInt32(truncatingIfNeeded: head << tailWidth | rest))
        return self.address(for: found) == address ? found : nil
    }

    /// The number of the IPv4 address's last bits that follow the zero octet.
    private var tailWidth: UInt128 { prefix.length == 96 ? 0 : UInt128(prefix.length) - 32 }

    /// The number of bits after the part of the IPv4 address that precedes the zero octet.
    private var headShift: UInt128 { prefix.length == 96 ? 0 : 64 }

    /// The number of bits after the part of the IPv4 address that follows the zero octet.
    private var tailShift: UInt128 { 56 - tailWidth }

    private func tail(of value: UInt128) -> UInt128 { (value & mask(tailWidth)) << tailShift }

    private func mask(_ width: UInt128) -> UInt128 { 1 << width - 1 }
}

extension NAT64Prefix {
    /// Returns the prefixes that the IPv6 addresses of `ipv4only.arpa` reveal (RFC 7050, 3).
    ///
    /// The name has the IPv4 addresses 192.0.0.170 and 192.0.0.171 only: an IPv6 address was made by a name server
    /// (DNS64, RFC 6147).
    ///
    /// - Parameter answers: The addresses of the name.
    /// - Returns: The prefixes, in the order of the answers, each once.
    public static func prefixes(revealedBy answers: [IPAddress]) -> [Self] {
        var found: [Self] = []
        for answer in answers where answer.family == .ipv6 {
            guard let prefix = lengths.lazy.reversed().compactMap({ prefix(of: answer, $0) }).first else { continue }
            if !found.contains(prefix) { found.append(prefix) }
        }
        return found
    }

    private static func prefix(of answer: IPAddress, _ length: UInt8) -> Self? {
        guard let prefix = Self(.init(answer, length: length)), let embedded = prefix.embeddedAddress(in: answer)
        else { return nil }
        return embedded.ipv4Value | 1 == 0xC000_00AB ? prefix : nil
    }
}
