public import FoundationEssentials

/// Parameters of a request, to be sent as a query, a form, JSON or a property list: a tree of values.
///
/// ```swift
/// let parameters: ParameterValue = ["q": "swift", "page": 2, "tags": ["a", "b"], "filter": ["open": true]]
/// ```
/// Any `Encodable` value is converted by ``ParameterValue/init(encoding:by:)``.
public indirect enum ParameterValue: Sendable, Hashable {
    /// No value: in a query only the key, in JSON `null`. Property lists have no null and omit it.
    case null
    /// A Boolean, written `true` or `false`.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// A floating-point number.
    case number(Double)
    /// Text.
    case string(String)
    /// An ordered list of values; in a query each is written as `key[]`.
    case array([ParameterValue])
    /// An unordered set of values; in a query each is written with the plain key, sorted. JSON and property lists have
    /// no sets: there it is an array in the same order.
    case set(Set<ParameterValue>)
    /// Values by key; in a query each is written as `key[sub]`, sorted by key.
    case dictionary([String: ParameterValue])
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Creates ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates ``number(_:)``.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates ``array(_:)``.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// Creates ``dictionary(_:)``.
    ///
    /// If a key occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(.init(elements, uniquingKeysWith: { $1 }))
    }
}

extension ParameterValue {
    /// The value as it is written in a query, without escaping; nil for ``null`` and collections.
    var text: String? {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): Self.text(value)
        case .string(let value): value
        case .null, .array, .set, .dictionary: nil
        }
    }

    /// Returns a number as text.
    ///
    /// A whole number has no `.0`, as in JSON.
    private static func text(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}

extension ParameterValue {
    /// Creates parameters from any encodable value, by encoding it as JSON.
    ///
    /// - Parameters:
    ///   - value: The value to encode. Its sets become arrays.
    ///   - encoder: The encoder, which decides how dates, data and keys are written.
    /// - Throws: The error of the value's encoding.
    public init(encoding value: some Encodable, by encoder: JSONEncoder = .init()) throws {
        // Not every JSON parser accepts a scalar as a document, so the value is wrapped in an array.
        self = try JSONDecoder().decode([ParameterValue].self, from: encoder.encode([value]))[0]
    }
}

extension ParameterValue: Codable {
    /// Creates a value from any JSON value or property list.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            var values: [String: ParameterValue] = [:]
            for key in container.allKeys { values[key.stringValue] = try container.decode(Self.self, forKey: key) }
            self = .dictionary(values)
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [ParameterValue] = []
            while !container.isAtEnd { values.append(try container.decode(Self.self)) }
            self = .array(values)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> Self {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(Double.self) { return .number(value) }
        return .string(try container.decode(String.self))
    }

    /// Encodes the value.
    ///
    /// A set is written as a sorted array, so that equal sets are always written alike.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .dictionary(let values):
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in values { try container.encode(value, forKey: AnyKey(stringValue: key)) }
        case .array(let values): try encode(values, encoder)
        case .set(let values): try encode(QueryPairs.sorted(values), encoder)
        default: try encodeScalar(encoder.singleValueContainer())
        }
    }

    private func encode(_ values: [ParameterValue], _ encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for value in values { try container.encode(value) }
    }

    private func encodeScalar(_ container: any SingleValueEncodingContainer) throws {
        var container = container
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .null, .array, .set, .dictionary: try container.encodeNil()
        }
    }
}

/// A coding key with any text.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
