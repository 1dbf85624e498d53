/// The directives of the `Cache-Control` field of a request or a response (RFC 9111, 5.2; RFC 5861).
///
/// Unknown directives are ignored. Those for shared caches only (`s-maxage`, `proxy-revalidate`) matter where a request has
/// `Authorization`.
package struct CacheDirectives: Sendable, Hashable {
    package private(set) var noStore = false
    /// With or without field names: a response with some is treated as one with none (RFC 9111, 5.2.2.4).
    package private(set) var noCache = false
    package private(set) var mustRevalidate = false
    package private(set) var mustUnderstand = false
    package private(set) var isPublic = false
    package private(set) var isPrivate = false
    package private(set) var onlyIfCached = false
    /// The smallest `s-maxage` in seconds, 0 for an invalid one: it is no lifetime in a private cache (RFC 9111, 5.2.2.10).
    package private(set) var sharedMaxAge: Int64?
    /// Seconds.
    package private(set) var maxAge: Int64?
    /// Seconds; the largest value if any staleness is accepted.
    package private(set) var maxStale: Int64?
    /// Seconds.
    package private(set) var minFresh: Int64?
    /// Seconds.
    package private(set) var staleWhileRevalidate: Int64?
    /// Seconds.
    package private(set) var staleIfError: Int64?
    /// Whether `max-age` is invalid or contradicts itself, so that a response is stale (RFC 9111, 4.2.1).
    package private(set) var hasInvalidMaxAge = false

    /// The largest number of seconds that is counted (RFC 9111, 1.2.2).
    package static let longest: Int64 = 1 << 31

    /// Parses the values of the field lines.
    package init(_ values: [String]) {
        for value in values {
            var parser = CacheDirectiveParser(value)
            while let (name, argument) = parser.next() { add(name, argument) }
        }
    }

    private mutating func add(_ name: String, _ argument: String?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "only-if-cached": onlyIfCached = true
        case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .max, Self.seconds(argument) ?? 0)
        case "max-age": addMaxAge(Self.seconds(argument))
        case "max-stale": maxStale = argument == nil ? .max : Self.seconds(argument)
        case "min-fresh": minFresh = Self.seconds(argument) ?? Self.longest
        case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(argument)
        case "stale-if-error": staleIfError = Self.seconds(argument)
        default: break
        }
    }

    private mutating func addMaxAge(_ seconds: Int64?) {
        guard let seconds, maxAge == nil || maxAge == seconds else {
            hasInvalidMaxAge = true
            return
        }
        maxAge = seconds
    }

    /// Parses a number of seconds; a larger one than can be counted is the largest (RFC 9111, 1.2.2).
    package static func seconds(_ text: String?) -> Int64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return min(longest, Int64(text) ?? longest)
    }
}

/// Divides a `Cache-Control` value into directives: a token each, with an argument that is a token or quoted.
struct CacheDirectiveParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the next directive, its name in lower case; nil at the end.
    mutating func next() -> (name: String, argument: String?)? {
        while position < bytes.count, bytes[position].isBlank || bytes[position] == UInt8(ascii: ",") { position += 1 }
        guard position < bytes.count else { return nil }
        let start = position
        while position < bytes.count, bytes[position].isTokenCharacter { position += 1 }
        let name = text(start..<position).lowercased()
        var argument: String?
        if position < bytes.count, bytes[position] == UInt8(ascii: "=") {
            position += 1
            argument = nextArgument()
        }
        // What follows up to the comma is not in the grammar: the argument is then not valid either.
        let end = position
        skipElement()
        let hasRest = bytes[end..<position].contains { !$0.isBlank }
        return (name, hasRest ? (argument ?? "") + "?" : argument)
    }

    private mutating func nextArgument() -> String {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            while position < bytes.count, bytes[position].isTokenCharacter { position += 1 }
            return text(start..<position)
        }
        return quoted()
    }

    private mutating func quoted() -> String {
        var unescaped: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
            unescaped.append(bytes[position])
            position += 1
        }
        position = min(bytes.count, position + 1)
        return String(decoding: unescaped, as: UTF8.self)
    }

    /// Moves to the comma that ends the directive, which may be after a quoted string that contains some.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            if bytes[position] == UInt8(ascii: "\"") { _ = quoted() } else { position += 1 }
        }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}
