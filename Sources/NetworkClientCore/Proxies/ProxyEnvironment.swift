/// What the environment's variables say of proxies: as curl reads them.
///
/// | for | the first of these that is set and not empty |
/// |---|---|
/// | `http` | `http_proxy`, `all_proxy`, `ALL_PROXY` |
/// | `https` | `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY` |
/// | exceptions | `no_proxy`, `NO_PROXY` |
///
/// `HTTP_PROXY` is not read: of a program that a web server starts (CGI, RFC 3875, 4.1.18), the client sets it by sending a
/// field `Proxy`.
public struct ProxyEnvironment: Sendable, Hashable {
    /// A variable, and what it says.
    public struct Setting: Sendable, Hashable {
        /// Its name.
        public let variable: String
        /// Its value, which may hold a password.
        public let value: String
    }

    /// The proxy for `http` URLs.
    public let http: Setting?
    /// The proxy for `https` URLs.
    public let https: Setting?
    /// The hosts that are reached without.
    public let exceptions: Setting?

    /// Reads variables.
    ///
    /// - Parameter value: Gives a variable's value, nil if it is not set.
    public init(_ value: (String) -> String?) {
        func first(_ names: String...) -> Setting? {
            for name in names {
                if let value = value(name), !value.isEmpty { return .init(variable: name, value: value) }
            }
            return nil
        }
        http = first("http_proxy", "all_proxy", "ALL_PROXY")
        https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = first("no_proxy", "NO_PROXY")
    }
}

extension ProxyEnvironment.Setting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The variable's name.
    public var description: String { variable }
    /// As ``description``.
    public var debugDescription: String { description }
    /// Has no children: one may hold a password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
