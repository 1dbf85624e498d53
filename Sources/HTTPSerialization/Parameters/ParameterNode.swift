import FoundationEssentials

/// Parameters as a tree of values, from which all formats are written.
enum ParameterNode: Sendable, Hashable {
    /// No value: in a query only the key, in JSON `null`. Property lists have no null and omit it.
    case null
    case bool(Bool)
    /// A number of which each digit counts.
    case number(JSONNumber)
    /// A finite floating-point number.
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    /// An ordered list of values.
    case array([ParameterNode])
    /// A set of values, sorted by ``sorted(_:)``.
    case set([ParameterNode])
    case dictionary([String: ParameterNode])
}

extension ParameterNode {
    /// The value as it is written in a query, without escaping; nil for ``null`` and collections.
    func text(_ options: ParameterOptions) -> String? {
        switch self {
        case .bool(let value): options.text(value)
        case .number(let value): value.description
        case .double(let value): Self.text(value)
        case .string(let value): value
        case .date(let value): options.text(value)
        case .data(let value): value.base64EncodedString()
        case .null, .array, .set, .dictionary: nil
        }
    }

    /// Returns a finite number as text.
    ///
    /// A whole number has no `.0`, as in JSON.
    static func text(_ value: Double) -> String { JSONNumber(value)?.description ?? "\(value)" }

    /// Returns a set's values once each, in an order that depends only on the values.
    static func sorted(_ values: some Sequence<ParameterNode>) -> [ParameterNode] {
        Set(values).map { (value: $0, text: $0.text(.init()) ?? QueryPairs($0, .init()).identity) }
            .sorted { $0.text < $1.text }.map(\.value)
    }

    /// The name of the value in an error.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number, .double: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }

    /// The value without nulls at any depth: keys whose value is null and null elements are removed.
    var withoutNulls: ParameterNode {
        switch self {
        case .array(let values): .array(values.filter { $0 != .null }.map(\.withoutNulls))
        case .set(let values): .set(values.filter { $0 != .null }.map(\.withoutNulls))
        case .dictionary(let values): .dictionary(values.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}

/// JSON values.
extension ParameterNode {
    init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .number(let value): .number(value)
            case .string(let value): .string(value)
            case .array(let values): .array(values.map(Self.init))
            case .object(let values): .dictionary(values.mapValues(Self.init))
            }
    }

    /// The value in JSON.
    func json(_ options: ParameterOptions) -> JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let value): .number(value)
        case .double(let value): JSONNumber(value).map(JSONValue.number) ?? .null
        case .string(let value): .string(value)
        case .date(let date):
            switch options.dates {
            case .secondsSince1970, .millisecondsSince1970: .number(.init(validated: options.text(date)))
            case .iso8601, .custom: .string(options.text(date))
            }
        case .data: .string(text(options) ?? "")
        case .array(let values), .set(let values): .array(values.map { $0.json(options) })
        case .dictionary(let values): .object(values.mapValues { $0.json(options) })
        }
    }
}

/// Other encoders, which write sets as sorted arrays.
extension ParameterNode: Encodable {
    func encode(to encoder: any Encoder) throws {
        switch self {
        case .dictionary(let values):
            var container = encoder.container(keyedBy: JSONKey.self)
            for (key, value) in values { try container.encode(value, forKey: JSONKey(stringValue: key)) }
        case .array(let values), .set(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .number(let value): try value.encode(to: encoder)
        default: try encodeScalar(encoder.singleValueContainer())
        }
    }

    private func encodeScalar(_ container: any SingleValueEncodingContainer) throws {
        var container = container
        switch self {
        case .bool(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .null, .number, .array, .set, .dictionary: try container.encodeNil()
        }
    }
}

/// The reason why a value can't be encoded, and its keys from the outermost.
struct ParameterFailure: Error, Hashable, CustomStringConvertible {
    var path: [String]
    let reason: String

    init(_ path: [any CodingKey], _ reason: String) {
        self.path = path.map(\.stringValue)
        self.reason = reason
    }

    var description: String {
        guard let first = path.first else { return "the value of the parameters \(reason)" }
        return "the parameter '\(first)\(path.dropFirst().map { "[\($0)]" }.joined())' \(reason)"
    }
}
