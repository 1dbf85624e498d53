import NetworkClientCore

/// How long a server wants to be left alone, by the field `Retry-After` (RFC 9110, 10.2.3).
public enum RetryAfter {
    /// Reads the field: seconds, or a date, which counts from the date that the answer itself bears.
    ///
    /// The clocks of both ends need not agree; a date is no use where the answer has none of its own. What is past is no
    /// time at all, and what is beyond counting is as long as can be counted.
    ///
    /// - Parameters:
    ///   - field: the value of `Retry-After`.
    ///   - date: the value of the same answer's `Date`.
    /// - Returns: nil if the field can't be understood: it is as if there were none.
    public static func duration(_ field: String, date: String?) -> Duration? {
        if let seconds = seconds(field) { return seconds }
        guard let now = date.flatMap({ HTTPDate($0) }),
            let then = HTTPDate(field, currentYear: now.year)
        else { return nil }
        return .seconds(max(then.seconds - now.seconds, 0))
    }

    private static let longest = Int64.max / 1_000_000_000

    private static func seconds(_ field: String) -> Duration? {
        let digits = field.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        guard !digits.isEmpty, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? longest
        return .seconds(min(seconds, longest))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}
