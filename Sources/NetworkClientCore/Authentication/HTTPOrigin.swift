/// Scheme, host and port: what credentials belong to, and never leave (RFC 9110, 4.3.1).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether the scheme is https.
    public let isSecure: Bool
    /// The host as it is compared: ASCII, lower case, without brackets.
    public let host: String
    /// The port.
    public let port: Int

    /// Makes an origin.
    public init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// As a URL without a path: `https://example.com:8443`.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let suffix = port == (isSecure ? 443 : 80) ? "" : ":\(port)"
        return "\(isSecure ? "https" : "http")://\(name)\(suffix)"
    }
}
