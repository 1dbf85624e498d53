/// A value in JSON (RFC 8259): what a server sent, or what is to be sent.
///
/// ```swift
/// let user = try await session.get("users/7").json()
/// let city = user["address"]?["city"]?.string
/// let firstTag = user["tags"]?[0]?.string
/// ```
/// Subscripts and accessors return nil where a key is missing or a value has another type.
///
/// Literals make values, also of mixed types: `["open": true, "tags": ["a", 1, .null]] as JSONValue`. Numbers keep all their
/// digits.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with all its digits.
    case number(JSONNumber)
    /// Text.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; its keys have no order.
    case object([String: JSONValue])
}

// There is no nil literal: `condition ? value : nil` would be null, not nil.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates ``number(_:)`` with all digits of the literal.
    public init(integerLiteral value: StaticBigInt) { self = .number(.init(integerLiteral: value)) }
    /// Creates ``number(_:)``.
    public init(floatLiteral value: Double) { self = .number(.init(floatLiteral: value)) }
    /// Creates ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates ``array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates ``object(_:)``.
    ///
    /// If a key occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(.init(elements, uniquingKeysWith: { $1 }))
    }
}

extension JSONValue {
    /// The value of a key of an object; nil if there is none, or this is not an object.
    ///
    /// Setting nil removes the key. Setting a value makes ``null`` an object, and has no effect on a value of another type.
    public subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            switch self {
            case .object(var members):
                self = .null
                members[key] = newValue
                self = .object(members)
            case .null: if let newValue { self = .object([key: newValue]) }
            default: break
            }
        }
    }

    /// An element of an array; nil if there is none at this position, or this is not an array.
    public subscript(position: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(position) else { return nil }
        return values[position]
    }

    /// Whether this is ``null``.
    public var isNull: Bool { self == .null }
    /// The Boolean; nil for other types.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number with all its digits; nil for other types.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    /// The number as an integer; nil for other types, and for a number that is not whole or doesn't fit.
    public var int: Int? { number?.integer() }
    /// The nearest floating-point number; nil for other types, and for a number that is too large.
    public var double: Double? { number?.double }
    /// The text; nil for other types.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The elements; nil for other types.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The values by key; nil for other types.
    public var object: [String: JSONValue]? { if case .object(let values) = self { values } else { nil } }

    /// The value without nulls at any depth: keys whose value is null and null elements are removed.
    public var withoutNulls: JSONValue {
        switch self {
        case .array(let values): .array(values.filter { !$0.isNull }.map(\.withoutNulls))
        case .object(let values): .object(values.filter { !$0.value.isNull }.mapValues(\.withoutNulls))
        default: self
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line, with sorted keys.
    public var description: String {
        String(decoding: JSONWriter.text(of: self, isPretty: false), as: UTF8.self)
    }
}

extension JSONValue {
    /// Creates a value from JSON text.
    ///
    /// Numbers keep all their digits. If a key occurs more than once in an object, the last value is used.
    ///
    /// - Parameter bytes: The text, in UTF-8, UTF-16 or UTF-32, with or without a byte order mark.
    /// - Throws: ``ParsingError`` with the position of what is not JSON. Values may be nested 512 deep.
    public init(parsing bytes: some Sequence<UInt8>) throws(ParsingError) {
        let bytes = Array(bytes)
        guard let name = JSONParser.wideCharacterSet(of: bytes) else {
            self = try JSONParser.value(of: bytes)
            return
        }
        let text: String
        do throws(CharacterSetConversion.Fault) {
            text = try CharacterSetConversion.text(bytes, in: name)
        } catch {
            throw .init(offset: 0, reason: "the text can't be read: \(error)")
        }
        self = try JSONParser.value(of: Array(text.utf8))
    }

    /// The reason why a text is not JSON.
    public struct ParsingError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The position in bytes from the start of the text, as UTF-8.
        public let offset: Int
        let reason: String

        /// The error in one line.
        public var description: String { "this is not JSON at byte \(offset): \(reason)" }
    }
}

extension JSONValue: Codable {
    /// Creates a value from what a decoder has.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: JSONKey.self) {
            var values: [String: JSONValue] = [:]
            for key in container.allKeys { values[key.stringValue] = try container.decode(Self.self, forKey: key) }
            self = .object(values)
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !container.isAtEnd { values.append(try container.decode(Self.self)) }
            self = .array(values)
        } else {
            self = try Self.scalar(decoder)
        }
    }

    private static func scalar(_ decoder: any Decoder) throws -> Self {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(String.self) { return .string(value) }
        return .number(try JSONNumber(from: decoder))
    }

    /// Encodes the value.
    ///
    /// - Throws: An error of the encoder, which may have no numbers of so many digits.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let values):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, value) in values { try container.encode(value, forKey: JSONKey(stringValue: key)) }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .number(let value): try value.encode(to: encoder)
        case .null, .bool, .string:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encodeNil()
            }
        }
    }
}

/// A coding key with any text, or an index.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
