import FoundationEssentials

/// Answers what a session's proxies want to know of the user.
///
/// Basic (RFC 7617) is shown at once, as curl does: whoever names a password for a proxy means that one to have it, and most
/// proxies take nothing else.
///
/// Belongs to the session's event loop, and is unchecked for that.
final class ProxyAuthenticator: @unchecked Sendable {
    /// The value of `Proxy-Authorization`; nil where there is nothing to show.
    func field(for proxy: ProxyServer, method: String, target: String) -> String? {
        guard let user = proxy.user else { return nil }
        return "Basic \(Data("\(user):\(proxy.password ?? "")".utf8).base64EncodedString())"
    }

    /// Takes in a proxy's challenges.
    ///
    /// - Parameters:
    ///   - challenges: The values of `Proxy-Authenticate`.
    ///   - proxy: The proxy.
    ///   - field: What it was shown; nil for nothing.
    /// - Returns: Whether it can be shown something else now, which it may take.
    func learn(_ challenges: [String], from proxy: ProxyServer, after field: String?) -> Bool { false }
}
