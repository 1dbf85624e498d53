public import FoundationEssentials

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
