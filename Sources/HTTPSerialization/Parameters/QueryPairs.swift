/// The name-value pairs of a query or a form.
///
/// A dictionary's values are named `key[sub]`, an array's `key[]`, and a set's repeat `key`. Dictionaries and sets are
/// sorted, so that equal parameters always produce the same text. A null produces the name alone; an empty collection
/// produces nothing.
struct QueryPairs {
    /// The pairs in order.
    ///
    /// A pair without a value is written as its name alone.
    private(set) var pairs: [(name: String, value: String?)] = []

    /// Creates the pairs of parameters.
    init(_ parameters: ParameterValue) { add(parameters, named: nil) }

    /// The percent-encoded pairs (RFC 3986, 2.1), written as `name=value` and joined by `&`.
    var text: String {
        pairs.map { pair in
            let name = QueryEscaping.escape(pair.name)
            return pair.value.map { "\(name)=\(QueryEscaping.escape($0))" } ?? name
        }
        .joined(separator: "&")
    }

    private mutating func add(_ value: ParameterValue, named name: String?) {
        switch value {
        case .dictionary(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(value, named: name.map { "\($0)[\(key)]" } ?? key)
            }
        case .array(let values):
            for value in values { add(value, named: "\(name ?? "")[]") }
        case .set(let values):
            for value in Self.sorted(values) { add(value, named: name) }
        default: pairs.append((name ?? value.text ?? "", name == nil ? nil : value.text))
        }
    }

    /// Returns a set's values in an order that depends only on the values.
    static func sorted(_ values: Set<ParameterValue>) -> [ParameterValue] {
        values.map { (value: $0, text: $0.text ?? QueryPairs($0).text) }.sorted { $0.text < $1.text }.map(\.value)
    }
}

/// Percent-encoding of names and values (RFC 3986, 2.1).
enum QueryEscaping {
    /// Escapes everything except letters, digits and `-._~/?`.
    ///
    /// Delimiters (`&`, `=`, `+`, `#`) are always escaped.
    ///
    /// Brackets are escaped as well, as in AFNetworking; servers decode `a%5Bb%5D` and `a[b]` alike.
    static func escape(_ text: String) -> String {
        if text.utf8.allSatisfy(isAllowed) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if isAllowed(byte) {
                bytes.append(byte)
            } else {
                bytes += byte.percentEncoded
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case _ where byte.isASCIIAlphanumeric: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
