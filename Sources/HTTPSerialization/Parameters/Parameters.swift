/// Parameters of a request, to be sent as a query, a form, JSON or a property list: values by name.
///
/// ```swift
/// let parameters: Parameters = ["q": name, "page": page, "tags": ["a", "b"], "since": date, "cursor": cursor]
/// ```
/// Values are of any `Encodable` type; also one value can be all parameters: `Parameters(filter)`. Integers and `Decimal`
/// keep all their digits. A value that is nil is omitted; ``JSONValue/null`` is sent.
///
/// The values are read when the parameters are created. What can't be sent, such as a number that is not finite, fails the
/// request with the key's name.
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var content: Content

    private enum Content: Sendable, Hashable {
        /// Nothing: a value that is nil.
        case none
        case tree(ParameterNode)
        case failure(ParameterFailure)
    }

    /// Creates parameters from an encodable value: a dictionary, or a type with properties.
    ///
    /// - Parameter value: The value. JSON also has arrays and single values, property lists have arrays.
    public init(_ value: some Encodable) {
        do throws(ParameterFailure) {
            content = try ParameterEncoder.node(of: value, at: []).map(Content.tree) ?? .none
        } catch {
            content = .failure(error)
        }
    }

    /// Creates parameters from values of different types.
    public init(_ values: [String: any Encodable]) { self.init(values.map { ($0, $1) }) }

    /// Creates parameters.
    ///
    /// If a key occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, (any Encodable)?)...) { self.init(elements) }

    private init(_ elements: [(String, (any Encodable)?)]) {
        var nodes: [String: ParameterNode] = [:]
        do throws(ParameterFailure) {
            for (key, value) in elements {
                guard let value else {
                    nodes[key] = nil
                    continue
                }
                nodes[key] = try ParameterEncoder.node(of: value, at: [JSONKey(stringValue: key)])
            }
            content = .tree(.dictionary(nodes))
        } catch {
            content = .failure(error)
        }
    }

    init(_ node: ParameterNode) { content = .tree(node) }

    /// The value of a key; nil if there is none.
    ///
    /// Setting nil removes the key. If these parameters have no keys, setting a value replaces them.
    public subscript(key: String) -> (any Encodable)? {
        get {
            guard case .tree(.dictionary(let values)) = content else { return nil }
            return values[key].map(Parameters.init(_:))
        }
        set {
            if case .failure = content { return }
            var values: [String: ParameterNode] = [:]
            if case .tree(.dictionary(let present)) = content { values = present }
            do throws(ParameterFailure) {
                values[key] = try newValue.flatMap { value throws(ParameterFailure) in
                    try ParameterEncoder.node(of: value, at: [JSONKey(stringValue: key)])
                }
                content = .tree(.dictionary(values))
            } catch {
                content = .failure(error)
            }
        }
    }

    /// Returns the values; nil for none.
    func node() throws(ParameterFailure) -> ParameterNode? {
        switch content {
        case .none: nil
        case .tree(let node): node
        case .failure(let failure): throw failure
        }
    }

    /// Returns the values; nil for none.
    func tree() throws(RequestSerializationError) -> ParameterNode? {
        do throws(ParameterFailure) { return try node() } catch { throw .init("\(error)") }
    }
}

extension Parameters: Encodable {
    /// Encodes the values, for serializers of other formats.
    public func encode(to encoder: any Encoder) throws { try (tree() ?? .null).encode(to: encoder) }
}

extension JSONValue {
    /// Creates a value from any encodable value, as it would be sent as parameters.
    ///
    /// - Parameters:
    ///   - value: The value; its sets become arrays, and nil properties are omitted.
    ///   - options: The format of dates.
    /// - Throws: ``RequestSerializationError``, which names the key that can't be encoded.
    public init(
        encoding value: some Encodable,
        options: ParameterOptions = .init()
    ) throws(RequestSerializationError) {
        self = try Parameters(value).tree()?.json(options) ?? .null
    }
}
