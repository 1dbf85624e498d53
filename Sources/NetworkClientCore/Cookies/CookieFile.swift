/// A file of cookies in the format of Netscape, which curl reads and writes too (curl: docs/HTTP-COOKIES.md).
///
/// A line has seven fields with tabs between them: domain, whether its subdomains are included, path, whether TLS is required,
/// expiry in seconds since 1970 or 0 for a session cookie, name, and value. The format has no place for `SameSite`.
package enum CookieFile {
    private static let hidden = "#HttpOnly_"

    /// Reads a file's contents.
    ///
    /// - Parameter bytes: The contents, in UTF-8.
    /// - Returns: The cookies in the order of their lines, expired ones included.
    /// - Throws: ``CookieFileFault`` for a line that is neither a cookie nor a comment.
    package static func cookies(_ bytes: [UInt8]) throws(CookieFileFault) -> [Cookie] {
        var cookies: [Cookie] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let end = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            do throws(Flaw) {
                if let cookie = try cookie(String(decoding: end, as: UTF8.self)) { cookies.append(cookie) }
            } catch {
                throw .init(line: number + 1, flaw: error.reason)
            }
        }
        return cookies
    }

    private struct Flaw: Error { let reason: String }

    /// Returns the cookie of a line; nil for a comment or an empty line.
    private static func cookie(_ line: String) throws(Flaw) -> Cookie? {
        let isHidden = line.hasPrefix(hidden)
        let rest = isHidden ? line.dropFirst(hidden.count) : line[...]
        guard isHidden || !rest.hasPrefix("#"), rest.contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
        let fields = rest.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard 6...7 ~= fields.count else {
            throw .init(reason: "it has \(fields.count) fields with tabs between them, and a cookie has seven")
        }
        guard let subdomains = flag(fields[1]), let isSecure = flag(fields[3]) else {
            throw .init(reason: "its second and fourth fields must be TRUE or FALSE")
        }
        guard let expires = Int64(fields[4]), expires >= 0 else {
            throw .init(reason: "its fifth field must be a number of seconds since 1970, or 0")
        }
        let domain = (fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]).asciiLowercased
        let path = fields[2].hasPrefix("/") ? fields[2] : "/"
        let cookie = Cookie(
            name: fields[5],
            value: fields.count > 6 ? fields[6] : "",
            domain: domain,
            isHostOnly: !subdomains || CookieDomain.isAddress(domain),
            path: path,
            expires: expires == 0 ? nil : expires,
            isSecure: isSecure,
            isHTTPOnly: isHidden
        )
        if let flaw = cookie.flaw { throw .init(reason: flaw) }
        return cookie
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.asciiLowercased {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Returns a file's contents.
    ///
    /// Cookies without a name and values with tabs are left out, since the format can't represent them.
    package static func text(_ cookies: [Cookie]) -> String {
        let header = "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n"
        return header + cookies.compactMap(line).joined()
    }

    private static func line(_ cookie: Cookie) -> String? {
        let texts = [cookie.name, cookie.value, cookie.path, cookie.domain]
        guard !cookie.name.isEmpty, !texts.contains(where: { $0.utf8.contains(where: \.isASCIIControl) }) else {
            return nil
        }
        let fields = [
            (cookie.isHTTPOnly ? hidden : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
            cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
            "\(max(cookie.expires ?? 0, 0))", cookie.name, cookie.value,
        ]
        return fields.joined(separator: "\t") + "\n"
    }
}

/// The place of an error in a file of cookies; it contains no part of a cookie.
package struct CookieFileFault: Error, Hashable, CustomStringConvertible {
    /// The number of the line, starting at 1.
    package let line: Int
    /// The reason.
    package let flaw: String

    /// The line and the reason.
    package var description: String { "line \(line): \(flaw)" }
}

extension Cookie {
    /// The reason why the cookie can't be stored; nil if it can.
    package var flaw: String? {
        let texts = [name, value, path, domain]
        let tab = UInt8(ascii: "\t")
        if texts.contains(where: { $0.utf8.contains { $0.isASCIIControl && $0 != tab } }) {
            return "it has control characters"
        }
        if name.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") })
            || value.utf8.contains(UInt8(ascii: ";"))
        {
            return "its name has '=' or ';', or its value ';'"
        }
        let size = name.utf8.count + value.utf8.count
        guard 1...SetCookie.maximumSize ~= size else { return "its name and value must have 1 to 4096 bytes together" }
        guard !domain.isEmpty, domain.utf8.allSatisfy({ $0 < 0x80 }), domain == domain.asciiLowercased else {
            return "its domain must be a host's name in lower case and its ASCII form"
        }
        guard path.hasPrefix("/") else { return "its path must begin with a slash" }
        return meetsPrefix ? nil : "its name has a prefix whose requirements it does not meet"
    }
}
