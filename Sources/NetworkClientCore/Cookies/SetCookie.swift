/// A parsed `Set-Cookie` field (RFC 6265bis, 5.6).
///
/// Attributes that are not known, such as `Partitioned`, are ignored, and of each known one the last counts.
package struct SetCookie: Sendable {
    /// The maximum size of a name and its value together, in bytes.
    package static let maximumSize = 4_096
    /// The maximum size of an attribute's value, in bytes; a longer attribute is ignored.
    package static let maximumAttributeSize = 1_024
    /// The maximum time until a cookie expires: 400 days, in seconds.
    package static let maximumAge: Int64 = 400 * 86_400

    /// The name; may be empty.
    package let name: String
    /// The value; may be empty.
    package let value: String
    /// The time until it expires, in seconds; zero or less to delete it.
    private var maximumAge: Int64?
    /// The time at which it expires, in seconds since 1970, which counts only without a maximum age.
    private var expires: Int64?
    /// The domain in lower case, without its first dot; nil if it is not set, and empty if it is set to nothing.
    package private(set) var domain: String?
    /// The path; nil for the default one.
    package private(set) var path: String?
    /// Whether the field has a path, even one that is replaced by the default one.
    package private(set) var hasPath = false
    /// Whether it is sent by https and wss only.
    package private(set) var isSecure = false
    /// Whether it is hidden from scripts.
    package private(set) var isHTTPOnly = false
    /// The requests to other sites with which it is sent.
    package private(set) var sameSite = Cookie.SameSite.unspecified

    /// Parses a field's value; nil if it has to be ignored.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(where: { $0.isASCIIControl && $0 != UInt8(ascii: "\t") }) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = parts[0].pair
        (name, value) = pair.map { ($0.name, $0.value) } ?? ("", parts[0].trimmedText)
        let size = name.utf8.count + value.utf8.count
        guard 1...Self.maximumSize ~= size else { return nil }
        for part in parts.dropFirst() {
            let (name, value) = part.pair ?? (part.trimmedText, "")
            if value.utf8.count <= Self.maximumAttributeSize { take(name.lowercased(), value) }
        }
    }

    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "expires": expires = CookieDate.seconds(value) ?? expires
        case "max-age": maximumAge = Self.age(value) ?? maximumAge
        case "domain": domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).asciiLowercased
        case "path": (path, hasPath) = (value.hasPrefix("/") ? value : nil, true)
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Self.sameSite(value)
        default: break
        }
    }

    /// Returns a number of seconds, at most ``maximumAge``; nil if the text is not a number.
    private static func age(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        if isNegative { return 0 }
        // A number of many digits is larger than the maximum too.
        return min(Int64(digits) ?? maximumAge, maximumAge)
    }

    private static func sameSite(_ text: String) -> Cookie.SameSite {
        switch text.lowercased() {
        case "none": .none
        case "lax": .lax
        case "strict": .strict
        default: .unspecified
        }
    }

    /// Returns the time at which the cookie expires, in seconds since 1970; nil for a session cookie.
    package func expires(now: Int64) -> Int64? {
        if let maximumAge { return maximumAge <= 0 ? .min : now + maximumAge }
        return expires.map { min($0, now + Self.maximumAge) }
    }
}

extension ArraySlice<UInt8> {
    /// The text before and after the first `=`, without spaces at their ends; nil if there is none.
    fileprivate var pair: (name: String, value: String)? {
        guard let separator = firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (self[..<separator].trimmedText, self[(separator + 1)...].trimmedText)
    }

    /// The text without spaces and tabs at its ends.
    fileprivate var trimmedText: String {
        let start = drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }
}

extension String {
    /// The text with its ASCII letters in lower case.
    var asciiLowercased: String {
        String(decoding: utf8.map { $0.isASCIIUppercase ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
