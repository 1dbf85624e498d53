public import ReachabilityCore

/// The translator of a path without IPv4, behind which IPv4 addresses can be reached (NAT64), and how it was found.
public struct NAT64Discovery: Sendable, Hashable {
    /// The prefix of the IPv6 addresses that it translates (RFC 6052).
    public var prefix: NAT64Prefix
    /// How it was found.
    public var source: Source

    /// How a translator is found.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// By an option of a router advertisement (RFC 8781), which takes precedence.
        case routerAdvertisement
        /// By the addresses that a name server makes for `ipv4only.arpa` (RFC 7050).
        case nameServer
    }

    /// Creates a description.
    public init(prefix: NAT64Prefix, source: Source) {
        self.prefix = prefix
        self.source = source
    }
}
