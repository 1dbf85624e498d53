/// How long the stages of opening a connection took, and what came of them.
public struct ConnectMetrics: Sendable, Hashable {
    /// The look-up of the host's name; nil for a numeric address or a Unix socket.
    public var resolve: Duration?
    /// Connecting, all attempts together.
    public var connect: Duration?
    /// What the proxy took to lead to the origin, its own TLS included; nil without a proxy, or where it is handed requests.
    public var proxy: Duration?
    /// The TLS handshake; nil without TLS.
    public var tls: Duration?
    /// This machine's address and port, as in `192.0.2.2:51034`; nil for a Unix socket.
    public var localAddress: String?
    /// The server's address and port, or the proxy's, as in `[2001:db8::1]:443`, or the path of its Unix socket.
    public var remoteAddress: String?
    /// The version of TLS that was agreed on, as in `TLSv1.3`.
    public var tlsVersion: String?

    /// Makes metrics of a connection that has not come far.
    public init() {}
}
