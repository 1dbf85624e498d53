public import FoundationEssentials

/// What a request is given to send as a query, a form, JSON or a property list: a tree of values.
///
/// ```swift
/// let parameters: ParameterValue = ["q": "swift", "page": 2, "tags": ["a", "b"], "filter": ["open": true]]
/// ```
/// Any `Encodable` becomes one by ``ParameterValue/init(encoding:by:)``.
public indirect enum ParameterValue: Sendable, Hashable {
    /// No value: in a query the key alone, in JSON `null`; property lists have none and leave it out.
    case null
    /// Written `true` and `false`.
    case bool(Bool)
    /// A number without fraction.
    case integer(Int64)
    /// A number with fraction.
    case number(Double)
    /// Text.
    case string(String)
    /// Values in an order; in a query each under `key[]`.
    case array([ParameterValue])
    /// Values without an order; in a query each under the plain key, sorted; in JSON and property lists, which have no
    /// sets, an array, sorted the same way.
    case set(Set<ParameterValue>)
    /// Values by keys; in a query each under `key[sub]`, sorted by key.
    case dictionary([String: ParameterValue])
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// ``number(_:)``.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// ``array(_:)``.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// Of a key that is written twice the later value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(.init(elements, uniquingKeysWith: { $1 }))
    }
}

extension ParameterValue {
    /// The value as a query shows it, without escaping; nil for ``null`` and for what holds other values.
    var text: String? {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): Self.text(value)
        case .string(let value): value
        case .null, .array, .set, .dictionary: nil
        }
    }

    /// A whole number has no `.0`, as JSON's numbers have none.
    private static func text(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}

extension ParameterValue {
    /// Makes parameters of anything that encodes itself, by way of JSON.
    ///
    /// - Parameters:
    ///   - value: What to encode. Its sets become arrays.
    ///   - encoder: How dates, data and keys are written.
    /// - Throws: What the value's own encoding throws.
    public init(encoding value: some Encodable, by encoder: JSONEncoder = .init()) throws {
        // A lone value is no document for every JSON reader; in an array it is.
        self = try JSONDecoder().decode([ParameterValue].self, from: encoder.encode([value]))[0]
    }
}

extension ParameterValue: Codable {
    /// Reads any JSON value or property list.
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

    /// Writes the value; a set as an array, sorted so that the same set is always written the same.
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

/// A key that may be any text.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
