/// A media type with its parameters (RFC 9110, 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// `type/subtype` in lower case, such as `application/json`.
    public var essence: String
    /// The parameters, such as `charset`, by their names in lower case; of one that comes twice the first.
    public var parameters: [String: String] = [:]

    /// Reads the value of a `Content-Type`; nil if it has no `type/subtype`.
    public init?(_ text: String) {
        var rest = Substring(text)
        let essence = Self.trimmed(Self.cut(&rest, at: ";")).lowercased()
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else { return nil }
        self.essence = essence
        while !rest.isEmpty {
            let name = Self.trimmed(Self.cut(&rest, at: "=", ";")).lowercased()
            let value = Self.value(&rest)
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    /// Whether the type fits a pattern: the same, or with `*` for one half, or for what comes before a `+suffix`.
    public func matches(_ pattern: String) -> Bool {
        if essence == pattern || pattern == "*/*" { return true }
        if pattern.hasSuffix("/*") { return essence.hasPrefix(pattern.dropLast()) }
        guard let suffix = pattern.split(separator: "*", omittingEmptySubsequences: false).last,
            pattern.hasPrefix("*/*+") || pattern.contains("/*+")
        else { return false }
        let type = pattern.prefix { $0 != "/" }
        return essence.hasSuffix(suffix) && (type == "*" || essence.hasPrefix(type + "/"))
    }

    /// A token, or a quoted string with its escapes taken out, up to the next `;`.
    private static func value(_ rest: inout Substring) -> String {
        rest = rest.drop { $0 == " " || $0 == "\t" }
        guard rest.first == "\"" else { return trimmed(cut(&rest, at: ";")) }
        rest.removeFirst()
        var value = ""
        while let next = rest.popFirst(), next != "\"" {
            if next == "\\", let escaped = rest.popFirst() { value.append(escaped) } else { value.append(next) }
        }
        _ = cut(&rest, at: ";")
        return value
    }

    /// Takes what comes before one of some characters, and the first of them.
    private static func cut(_ rest: inout Substring, at ends: Character...) -> Substring {
        let part = rest.prefix { !ends.contains($0) }
        rest = rest[part.endIndex...]
        // A name without value ends at the ';', which stands for its '=' too.
        if !rest.isEmpty { rest.removeFirst() }
        return part
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
