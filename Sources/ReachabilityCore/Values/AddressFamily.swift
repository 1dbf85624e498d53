/// The address families that a default path can be of, with the kernel's numbers (`socket(2)`).
public enum AddressFamily: UInt8, Sendable, Hashable, CaseIterable {
    /// `AF_INET`.
    case ipv4 = 2
    /// `AF_INET6`.
    case ipv6 = 10

    /// How many bits an address of this family has.
    public var bitWidth: Int { self == .ipv4 ? 32 : 128 }
}
