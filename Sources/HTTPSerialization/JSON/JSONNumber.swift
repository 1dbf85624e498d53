public import FoundationEssentials

/// A number in JSON (RFC 8259, 6), which keeps all its digits.
///
/// Two numbers are equal if their values are: `1`, `1.0` and `10e-1`.
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The number as it is written in JSON.
    public let description: String

    /// Creates a number from text that is known to be one.
    init(validated text: String) { description = text }

    /// Creates a number from an integer of any size.
    public init(_ value: some BinaryInteger) { description = "\(value)" }

    /// Creates a number from a decimal number; nil if that is not a number.
    public init?(_ value: Decimal) {
        guard !value.isNaN else { return nil }
        description = "\(value)"
    }

    /// Creates a number with the fewest digits that stand for a floating-point number; nil unless that is finite.
    ///
    /// A whole number has no `.0`.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        description = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Creates a number from text as JSON has it; nil if the text is not such a number.
    public init?(_ text: String) {
        guard case .number(let number) = try? JSONValue(parsing: text.utf8), number.description == text else {
            return nil
        }
        self = number
    }

    /// Returns the number as an integer.
    ///
    /// - Parameter type: The type of integer.
    /// - Returns: The integer; nil if the number is not whole or doesn't fit.
    public func integer<Integer: FixedWidthInteger>(as type: Integer.Type = Integer.self) -> Integer? {
        if let value = Integer(description) { return value }
        let parts = parts
        // No integer in use has more digits than this; without a limit, 1e999999999 would be written out.
        guard (0...1_000).contains(parts.exponent) else { return nil }
        let digits = parts.digits.isEmpty ? "0" : parts.digits
        return Integer((parts.isNegative ? "-" : "") + digits + String(repeating: "0", count: parts.exponent))
    }

    /// The nearest floating-point number; nil if the number is too large for one.
    public var double: Double? { Double(description).flatMap { $0.isFinite ? $0 : nil } }

    /// The number as a decimal number with up to 38 digits; nil if it is too large for one.
    public var decimal: Decimal? { Decimal(string: description).flatMap { $0.isNaN ? nil : $0 } }
}

extension JSONNumber: Hashable {
    /// Returns whether two numbers have the same value.
    public static func == (left: Self, right: Self) -> Bool {
        left.description == right.description || left.parts == right.parts
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }

    /// The value: digits without zeros at either end, and the power of ten of the last one.
    private struct Parts: Hashable {
        var isNegative = false
        var digits = ""
        var exponent = 0
    }

    private var parts: Parts {
        let halves = description.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        let mantissa = halves[0].split(separator: ".")
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var digits = (mantissa[0].drop { $0 == "-" } + fraction).drop { $0 == "0" }
        var exponent = halves.count > 1 ? Self.exponent(halves[1]) : 0
        exponent -= fraction.utf8.count
        while digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else { return .init() }
        return .init(isNegative: description.hasPrefix("-"), digits: String(digits), exponent: exponent)
    }

    /// Returns an exponent, limited so that it can be added to.
    private static func exponent(_ text: Substring) -> Int {
        let limit = Int.max / 4
        guard let value = Int(text) else { return text.hasPrefix("-") ? -limit : limit }
        return min(max(value, -limit), limit)
    }
}

extension JSONNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a number from a literal of any size.
    public init(integerLiteral value: StaticBigInt) {
        let words = (value.bitWidth + UInt.bitWidth - 1) / UInt.bitWidth
        let isNegative = value.signum() < 0
        // The magnitude, in words of which the last is the highest: two's complement is inverted, and one added.
        var magnitude = (0..<words).map { isNegative ? ~value[$0] : value[$0] }
        if isNegative {
            for index in magnitude.indices {
                magnitude[index] &+= 1
                if magnitude[index] != 0 { break }
            }
        }
        description = (isNegative ? "-" : "") + Self.decimalText(of: magnitude)
    }

    /// Creates a number with the digits of a literal, up to the precision of `Double`.
    public init(floatLiteral value: Double) { self = .init(value) ?? .init(validated: "0") }

    private static func decimalText(of magnitude: [UInt]) -> String {
        var words = magnitude
        var digits: [UInt8] = []
        repeat {
            var remainder: UInt = 0
            for index in words.indices.reversed() {
                (words[index], remainder) = UInt(10).dividingFullWidth((remainder, words[index]))
            }
            digits.append(UInt8(ascii: "0") + UInt8(remainder))
        } while words.contains { $0 != 0 }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }
}

extension JSONNumber: Codable {
    /// Creates a number from what a decoder has: an integer of up to 64 bits, else a decimal number, else the nearest
    /// floating-point number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self) {
            self.init(value)
        } else if let value = (try? container.decode(Decimal.self)).flatMap({ Self($0) }) {
            self = value
        } else if let value = Self(try container.decode(Double.self)) {
            self = value
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the number is not finite")
        }
    }

    /// Encodes the number as an integer of up to 64 bits, else as a floating-point number if that has the same digits,
    /// else as a decimal number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value = integer(as: Int64.self) {
            try container.encode(value)
        } else if let value = integer(as: UInt64.self) {
            try container.encode(value)
        } else if let value = double, Self(value) == self {
            try container.encode(value)
        } else if let value = decimal {
            try container.encode(value)
        } else if let value = double {
            try container.encode(value)
        } else {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "the number is too large for this encoder"
            )
            throw EncodingError.invalidValue(self, context)
        }
    }
}
