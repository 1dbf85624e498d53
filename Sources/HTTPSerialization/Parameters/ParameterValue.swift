/// What a request is given to send as a query, a form, JSON or a property list: a tree of values.
///
/// ```swift
/// let parameters: ParameterValue = ["q": "swift", "page": 2, "tags": ["a", "b"], "filter": ["open": true]]
/// ```
/// Any `Encodable` becomes one by ``ParameterValue/init(encoding:)``.
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
