import FoundationEssentials
import HTTPTypes

/// Writes parameters as a query, or as an `application/x-www-form-urlencoded` body (URL Standard, 5).
public struct FormSerializer: RequestSerializer, PlacingSerializer {
    /// Returns parameters as the text of a query, already escaped.
    public typealias Encoding = @Sendable (Parameters) throws(RequestSerializationError) -> String

    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// The format of dates and Booleans, the names of arrays, and the character set.
    public var options: ParameterOptions
    /// A custom encoding of the query; nil for sorted names such as `filter[open]`.
    public var encoding: Encoding?

    /// Creates a serializer.
    public init(
        placement: ParameterPlacement = .init(),
        options: ParameterOptions = .init(),
        encoding: Encoding? = nil
    ) {
        self.placement = placement
        self.options = options
        self.encoding = encoding
    }

    /// Returns the request with its parameters.
    ///
    /// A body without parameters is an empty form.
    public func serialize(
        _ request: SerializedRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        let query = try parameters.map { value throws(RequestSerializationError) in try text(value) } ?? ""
        var request = request
        if placement.isTarget(of: request) {
            request.head.append(query: query)
        } else {
            request.head.setContentType("application/x-www-form-urlencoded")
            request.body = Array(query.utf8)
        }
        return request
    }

    private func text(_ parameters: Parameters) throws(RequestSerializationError) -> String {
        if let encoding { return try encoding(parameters) }
        return try QueryPairs(parameters, options).text
    }
}

/// Writes parameters as a JSON body (RFC 8259), or as a query for methods that have parameters in the target.
///
/// Keys are sorted, and a `Set` becomes a sorted array, so that equal parameters always produce the same bytes. Integers and
/// `Decimal` keep all their digits.
public struct JSONSerializer: RequestSerializer, PlacingSerializer {
    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// The format of dates; in a query also of Booleans and of the names of arrays.
    public var options: ParameterOptions
    /// Whether the JSON is indented for human readers.
    public var isPretty: Bool

    /// Creates a serializer.
    public init(
        placement: ParameterPlacement = .init(),
        options: ParameterOptions = .init(),
        isPretty: Bool = false
    ) {
        self.placement = placement
        self.options = options
        self.isPretty = isPretty
    }

    /// Returns the request with its parameters.
    ///
    /// Without parameters there is no body.
    public func serialize(
        _ request: SerializedRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        try placement.write(parameters, into: request, options) { (tree) throws(RequestSerializationError) in
            ("application/json", JSONWriter.text(of: tree.json(options), isPretty: isPretty))
        }
    }
}

/// Writes parameters as a property list body, or as a query for methods that have parameters in the target.
public struct PropertyListSerializer: RequestSerializer, PlacingSerializer {
    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// The format of parameters in a query.
    public var options: ParameterOptions
    /// Whether the property list is binary rather than XML.
    public var isBinary: Bool

    /// Creates a serializer.
    public init(
        placement: ParameterPlacement = .init(),
        options: ParameterOptions = .init(),
        isBinary: Bool = false
    ) {
        self.placement = placement
        self.options = options
        self.isBinary = isBinary
    }

    /// Returns the request with its parameters.
    ///
    /// Without parameters there is no body.
    public func serialize(
        _ request: SerializedRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        try placement.write(parameters, into: request, options) { (tree) throws(RequestSerializationError) in
            ("application/x-plist", try propertyList(tree))
        }
    }

    private func propertyList(_ tree: ParameterNode) throws(RequestSerializationError) -> [UInt8] {
        switch tree {
        case .dictionary, .array, .set: break
        default: throw .init("the parameters are \(tree.kind): a property list is a dictionary or an array")
        }
        let content: ParameterNode
        do throws(ParameterFailure) {
            content = try Self.content(tree.withoutNulls, [])
        } catch {
            throw .init("\(error)")
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        do {
            return Array(try encoder.encode(content))
        } catch {
            throw .init("the parameters can't be written as a property list: \(error)")
        }
    }

    /// Returns a value with numbers that property lists have: integers of 64 bits, and floating-point numbers.
    private static func content(
        _ node: ParameterNode,
        _ path: [any CodingKey]
    ) throws(ParameterFailure) -> ParameterNode {
        switch node {
        case .number(let number):
            if number.integer(as: Int64.self) != nil || number.integer(as: UInt64.self) != nil { return node }
            guard let value = number.double, JSONNumber(value) == number else {
                throw .init(path, "has more digits than numbers have in property lists: \(number)")
            }
            return .double(value)
        case .array(let values), .set(let values):
            var contents: [ParameterNode] = []
            for (index, value) in values.enumerated() {
                contents.append(try content(value, path + [JSONKey(intValue: index)]))
            }
            return .array(contents)
        case .dictionary(let values):
            var contents: [String: ParameterNode] = [:]
            for (key, value) in values { contents[key] = try content(value, path + [JSONKey(stringValue: key)]) }
            return .dictionary(contents)
        default: return node
        }
    }
}

extension ParameterPlacement {
    /// Returns a request with parameters as a query or as a body; without parameters there is no body.
    ///
    /// - Parameters:
    ///   - parameters: The parameters; nil for none.
    ///   - request: The request.
    ///   - options: The format of a query.
    ///   - body: Returns the media type and the bytes of the body.
    /// - Returns: The request with the parameters.
    /// - Throws: The error of the closure or the query.
    fileprivate func write(
        _ parameters: Parameters?,
        into request: SerializedRequest,
        _ options: ParameterOptions,
        as body: (ParameterNode) throws(RequestSerializationError) -> (type: String, bytes: [UInt8])
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !isTarget(of: request) else {
            return try FormSerializer(placement: self, options: options).serialize(request, parameters: parameters)
        }
        guard let tree = try parameters?.tree() else { return request }
        var request = request
        let (type, bytes) = try body(tree)
        request.head.setContentType(type)
        request.body = bytes
        return request
    }
}
