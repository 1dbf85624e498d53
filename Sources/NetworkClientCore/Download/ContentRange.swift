/// Which part of a whole an answer has, or how long the whole is (`Content-Range`; RFC 9110, 14.4).
package struct ContentRange: Sendable, Hashable {
    /// The first byte's position and the last one's; nil in `bytes */1234`, which tells the whole's length alone.
    package let bytes: ClosedRange<Int64>?
    /// The whole's length; nil where the server does not know it (`*`).
    package let total: Int64?

    /// Reads a field's value; nil where it is not of this form, contradicts itself, or is of another unit than bytes.
    package init?(_ text: String) {
        // The unit's case does not count, and there is one space behind it.
        guard text.utf8.count <= 128, text.utf8.prefix(6).map({ $0 | 0x20 }).elementsEqual("bytes ".utf8) else {
            return nil
        }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// Digits and nothing else, no more than a file can have bytes.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
