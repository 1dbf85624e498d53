import NIOCore

/// What a session has for its proxies.
struct ProxyMeans: Sendable {
    /// Who the user is to them.
    var authenticator = ProxyAuthenticator()
    /// Whom to trust that says it is one.
    var tls = TLSOptions()
    /// How large the head of an answer may be, in bytes.
    var maximumHead = 64 << 10
}

extension ProxyMeans {
    /// As a configuration has it.
    ///
    /// Pins, a client's certificate and the challenge handler are for origins; a proxy's own policy is one by its host.
    init(_ configuration: HTTPConfiguration) {
        tls = .init(
            policiesByHost: configuration.tls.policiesByHost,
            roots: configuration.tls.roots,
            minimumVersion: configuration.tls.minimumVersion
        )
        maximumHead = configuration.maximumHeadSize
    }
}
