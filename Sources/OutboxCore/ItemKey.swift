/// The form of an item's key in its field.
package enum KeyStyle: Int64, Sendable, Hashable {
    /// As a structured field's String, in quotes (RFC 9651, 3.3.3), as the draft of the `Idempotency-Key` field demands.
    case quoted = 0
    /// Without quotes.
    case bare = 1

    /// Returns the value of the field.
    package func fieldValue(_ key: String) -> String {
        let isPlain = !key.utf8.contains { $0 == 0x22 || $0 == 0x5C }
        return switch self {
        case .bare: key
        case .quoted where isPlain: "\"\(key)\""
        case .quoted: "\"" + key.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" } + "\""
        }
    }
}

/// The rules for keys.
package enum ItemKey {
    /// The maximum length in bytes.
    package static let maximumLength = 255

    /// Returns why a text is no key; nil if it is one.
    ///
    /// Visible ASCII characters only, which every style can carry.
    package static func problem(_ key: String) -> String? {
        if key.isEmpty { return "is empty" }
        if key.utf8.count > maximumLength { return "is longer than \(maximumLength) bytes" }
        return key.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? nil : "has other than visible ASCII characters"
    }
}
