/// The name-value pairs of a query or a form.
///
/// A dictionary's values are named `key[sub]`, an array's `key[]` unless the options say otherwise, and a set's repeat
/// `key`. Dictionaries and sets are sorted, so that equal parameters always produce the same text. A null produces the name
/// alone; an empty collection produces nothing.
struct QueryPairs {
    /// A name and its value, which is not a collection.
    ///
    /// A pair whose value is null is written as its name alone.
    typealias Pair = (name: String, value: ParameterNode)

    /// The pairs in order.
    private(set) var pairs: [Pair] = []
    private let options: ParameterOptions

    /// Creates the pairs of parameters.
    ///
    /// - Throws: ``RequestSerializationError`` if a value can't be encoded, or the parameters are no dictionary.
    init(_ parameters: Parameters, _ options: ParameterOptions) throws(RequestSerializationError) {
        let tree = try parameters.tree()
        switch tree {
        case .dictionary, nil: self.init(tree ?? .dictionary([:]), options)
        case .some(let value):
            throw .init("the parameters are \(value.kind): here they need names, so put the value in a dictionary")
        }
    }

    /// Creates the pairs of any value, for comparisons.
    init(_ node: ParameterNode, _ options: ParameterOptions) {
        self.options = options
        add(node, named: nil)
    }

    /// The percent-encoded pairs (RFC 3986, 2.1), written as `name=value` and joined by `&`.
    var text: String {
        get throws(RequestSerializationError) {
            try joined { text throws(RequestSerializationError) in
                QueryEscaping.escape(try options.bytes(of: text))
            }
        }
    }

    /// A text that is equal for equal values, for comparisons.
    var identity: String { joined { QueryEscaping.escape($0.utf8) } }

    private func joined<Failure: Error>(_ escape: (String) throws(Failure) -> String) throws(Failure) -> String {
        var texts: [String] = []
        for pair in pairs {
            let name = try escape(pair.name)
            guard let value = pair.value.text(options) else {
                texts.append(name)
                continue
            }
            texts.append("\(name)=\(try escape(value))")
        }
        return texts.joined(separator: "&")
    }

    private mutating func add(_ value: ParameterNode, named name: String?) {
        switch value {
        case .dictionary(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(value, named: name.map { "\($0)[\(key)]" } ?? key)
            }
        case .array(let values):
            for (index, value) in values.enumerated() { add(value, named: elementName(index, of: name ?? "")) }
        case .set(let values):
            for value in values { add(value, named: name) }
        default: pairs.append((name ?? "", value))
        }
    }

    private func elementName(_ index: Int, of name: String) -> String {
        switch options.arrays {
        case .brackets: "\(name)[]"
        case .noBrackets: name
        case .indexInBrackets: "\(name)[\(index)]"
        }
    }
}

/// Percent-encoding of names and values (RFC 3986, 2.1).
enum QueryEscaping {
    /// Escapes everything except letters, digits and `-._~/?`.
    ///
    /// Delimiters (`&`, `=`, `+`, `#`) are always escaped.
    ///
    /// Brackets are escaped as well, as in AFNetworking; servers decode `a%5Bb%5D` and `a[b]` alike.
    static func escape(_ text: some Collection<UInt8>) -> String {
        if text.allSatisfy(isAllowed) { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 2)
        for byte in text {
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
