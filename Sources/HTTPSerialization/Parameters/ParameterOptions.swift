public import FoundationEssentials

/// The format of parameters where there are several conventions.
public struct ParameterOptions: Sendable {
    /// The format of dates, in all formats except property lists, which have dates.
    public var dates: DateEncoding
    /// The format of Booleans in queries and forms.
    public var booleans: BoolEncoding
    /// The names of an array's elements in queries and forms.
    public var arrays: ArrayEncoding
    /// The character set of queries and forms, by its name in iconv(3), such as `iso-8859-1`; UTF-8 by default.
    ///
    /// Text is percent-encoded by its bytes in this set. A request with a character that the set does not have fails. No
    /// field names the set: the server has to know it.
    public var characterSet: String

    /// Creates options.
    public init(
        dates: DateEncoding = .iso8601,
        booleans: BoolEncoding = .literal,
        arrays: ArrayEncoding = .brackets,
        characterSet: String = "utf-8"
    ) {
        self.dates = dates
        self.booleans = booleans
        self.arrays = arrays
        self.characterSet = characterSet
    }

    /// A format of dates.
    public enum DateEncoding: Sendable {
        /// ISO 8601 in UTC, in whole seconds: `2026-11-22T21:38:10Z`.
        case iso8601
        /// The number of seconds since 1970, with fractions.
        case secondsSince1970
        /// The number of milliseconds since 1970, rounded to a whole number.
        case millisecondsSince1970
        /// The text that a closure returns.
        case custom(@Sendable (Date) -> String)
    }

    /// A format of Booleans.
    public enum BoolEncoding: Sendable, Hashable {
        /// `true` and `false`.
        case literal
        /// `1` and `0`.
        case numeric
    }

    /// Names of an array's elements, here for the array `a`.
    public enum ArrayEncoding: Sendable, Hashable {
        /// `a[]` for each element.
        case brackets
        /// `a` for each element.
        case noBrackets
        /// `a[0]`, `a[1]` and so on.
        case indexInBrackets
    }
}

extension ParameterOptions {
    func text(_ date: Date) -> String {
        switch dates {
        case .iso8601: date.formatted(.iso8601)
        case .secondsSince1970: ParameterNode.text(date.timeIntervalSince1970)
        case .millisecondsSince1970: ParameterNode.text((date.timeIntervalSince1970 * 1_000).rounded())
        case .custom(let text): text(date)
        }
    }

    func text(_ value: Bool) -> String {
        switch booleans {
        case .literal: value ? "true" : "false"
        case .numeric: value ? "1" : "0"
        }
    }

    /// Returns the bytes of a name or a value in the character set.
    func bytes(of text: String) throws(RequestSerializationError) -> [UInt8] {
        do throws(CharacterSetConversion.Fault) {
            return try CharacterSetConversion.bytes(of: text, in: characterSet)
        } catch {
            throw .init("the parameters can't be encoded: \(error); use utf-8")
        }
    }
}
