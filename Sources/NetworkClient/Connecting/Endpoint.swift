import ReachabilityCore

/// Where a connection leads, and how: what connections are pooled by.
struct Endpoint: Sendable, Hashable {
    /// Whether TLS is spoken.
    var isSecure: Bool
    /// The host in its ASCII form, lower case, without brackets; or the path of a Unix socket's.
    var host: String
    /// The port.
    var port: Int
    /// The path of a Unix socket, where one is used instead of host and port.
    var socketPath: String?
    /// What the connection's own end is bound to.
    var binding: LocalBinding = .unbound
    /// What its path must be, which the binding sees to.
    var requirement: PathRequirement = .any
    /// The proxy that leads there; nil for none.
    var proxy: ProxyServer?
}

/// What a connection's own end is bound to.
public enum LocalBinding: Sendable, Hashable {
    /// The kernel chooses.
    case unbound
    /// An interface by its name: packets leave through it and no other (SO_BINDTOIFINDEX, socket(7)).
    case interface(String)
    /// An interface by its index.
    case interfaceIndex(Int32)
    /// A source address, numeric.
    case address(String)
}
