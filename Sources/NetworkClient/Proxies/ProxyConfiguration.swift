import Glibc

/// Through which proxies requests go.
///
/// A request on a Unix socket, or by a ``Transport`` of the user's own, goes by none, whatever this says.
public enum ProxyConfiguration: Sendable, Hashable {
    /// As the environment's variables say: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`
    /// (``NetworkClientCore/ProxyEnvironment`` has the rules).
    ///
    /// They are read when the session is made. A value that is no proxy is an error of the requests that would use it.
    case environment
    /// By none.
    case direct
    /// As the environment's variables say, but for the exceptions.
    indirect case environmentExcept(ProxyExceptions)
    /// By these, for each scheme that has one.
    indirect case proxies(http: ProxyServer?, https: ProxyServer?, except: ProxyExceptions = .none)

    /// By this one, whatever the scheme.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: The hosts that are reached without.
    /// - Returns: The configuration.
    public static func all(_ proxy: ProxyServer, except exceptions: ProxyExceptions = .none) -> Self {
        .proxies(http: proxy, https: proxy, except: exceptions)
    }
}

extension ProxyExceptions {
    /// What the environment says: `no_proxy`, or else `NO_PROXY`.
    public static var environment: Self { .init(ProxyEnvironment.current.exceptions?.value ?? "") }
}

extension ProxyEnvironment {
    /// This process's, read now.
    static var current: Self { .init { name in getenv(name).map { String(cString: $0) } } }
}
