/// Reads what people write for a proxy.
enum ProxyText {
    private static let howTo =
        "write http://host:port (or https, socks5, socks5h), with user:password@ before the host where it wants that"

    static func error(_ reason: String) -> HTTPError {
        .init(.invalidConfiguration, .neverSent, "this is no proxy: \(reason)")
    }

    /// Reads a proxy.
    static func server(_ text: String) throws(HTTPError) -> ProxyServer {
        let (scheme, rest) = try split(text)
        let authority = try self.authority("//\(rest)", isSecure: false)
        // A port that is written is the same whatever the scheme's own is.
        let isWritten = try self.authority("//\(rest)", isSecure: true).port == authority.port
        let port = isWritten ? authority.port : scheme == .https ? 443 : 1_080
        return try .init(checked: scheme, authority.host, port, authority.user, authority.password)
    }

    /// Reads a host alone.
    static func host(_ text: String) throws(HTTPError) -> String {
        guard !text.contains(where: { "@/?#".contains($0) }) else { throw error("its host is none; \(howTo)") }
        return try authority("//\(text)", isSecure: false).host
    }

    private static func split(_ text: String) throws(HTTPError) -> (ProxyServer.Scheme, Substring) {
        guard let mark = text.firstRange(of: "://") else { return (.http, text[...]) }
        let name = text[..<mark.lowerBound].lowercased()
        guard let scheme = ProxyServer.Scheme(rawValue: name) else {
            // What stands there may be a password with a slash in it.
            let isName = name.utf8.allSatisfy { URLBytes.isSchemeByte($0) }
            throw error("\(isName ? "'\(name)'" : "its scheme") is not among those that are spoken; \(howTo)")
        }
        return (scheme, text[mark.upperBound...])
    }

    private static func authority(_ reference: String, isSecure: Bool) throws(HTTPError) -> URLAuthority {
        do throws(HTTPError) {
            return try URLAuthority(URLReference(reference), isSecure: isSecure)
        } catch {
            // The words are those for URLs, and show nothing of the user.
            let words = error.reason.replacing("the URL's", with: "its").replacing("the URL", with: "it")
            throw self.error("\(words); \(howTo)")
        }
    }
}
