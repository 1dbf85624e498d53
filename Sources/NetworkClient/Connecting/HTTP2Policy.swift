/// The use of HTTP/2 (RFC 9113), which carries several requests at a time on one connection.
///
/// ```swift
/// var configuration = HTTPConfiguration()
/// configuration.http2 = .off
/// ```
/// Requests that a proxy forwards always use HTTP/1.1. A WebSocket is a stream of the origin's open connection with HTTP/2 if
/// its server allows that (RFC 8441), and has a connection of its own with HTTP/1.1 if not.
public enum HTTP2Policy: String, Sendable, Hashable, CaseIterable {
    /// HTTP/2 is used over TLS with servers that select it (ALPN, RFC 7301); all others get HTTP/1.1.
    case automatic
    /// As ``automatic``, and over plain TCP all servers get HTTP/2 without being asked (RFC 9113, 3.3).
    case priorKnowledge
    /// Only HTTP/1.1 is used.
    case off
}

extension Endpoint {
    /// Whether HTTP/2 is offered in the TLS handshake.
    var offersHTTP2: Bool { isSecure && http2 != .off }

    /// Whether its server is known to speak HTTP/2.
    var assumesHTTP2: Bool { !isSecure && http2 == .priorKnowledge && !isForwarded }
}
