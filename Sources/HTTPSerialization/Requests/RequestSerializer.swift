import FoundationEssentials
public import HTTPTypes

/// Writes parameters into a request: into its target, or into a body with a content type.
///
/// Conform to this protocol for custom encodings. A serializer has no state and may be used from any thread.
public protocol RequestSerializer: Sendable {
    /// The format of parameters that a request puts elsewhere because it has another body: into the query, or into a
    /// multipart form.
    var options: ParameterOptions { get }

    /// Returns a request with its parameters.
    ///
    /// - Parameters:
    ///   - request: The request head so far. Fields that it already has are never overwritten.
    ///   - parameters: The parameters; nil for none.
    /// - Returns: The head and the body.
    /// - Throws: ``RequestSerializationError`` if the parameters can't be written in this format.
    func serialize(
        _ request: HTTPRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest
}

extension RequestSerializer {
    /// The default format.
    public var options: ParameterOptions { .init() }
}

/// A request that is ready to send.
public struct SerializedRequest: Sendable, Hashable {
    /// The method, target and header fields.
    public var head: HTTPRequest
    /// The body; nil for none, which differs from an empty body.
    public var body: [UInt8]?

    /// Creates a request.
    public init(head: HTTPRequest, body: [UInt8]? = nil) {
        self.head = head
        self.body = body
    }
}

/// Decides whether parameters are written into the target or the body.
///
/// Methods whose body has no defined meaning (RFC 9110, 9.3) write them into the target.
public struct ParameterPlacement: Sendable, Hashable {
    /// The methods whose parameters are written into the target.
    public var methodsInTarget: Set<HTTPRequest.Method>

    /// Creates a placement.
    ///
    /// By default, GET, HEAD and DELETE write their parameters into the target.
    public init(methodsInTarget: Set<HTTPRequest.Method> = [.get, .head, .delete]) {
        self.methodsInTarget = methodsInTarget
    }
}

extension HTTPRequest {
    /// Appends a query to the target, after an existing query and before a fragment.
    mutating func append(query: String) {
        guard !query.isEmpty else { return }
        let target = path ?? "/"
        let end = target.firstIndex(of: "#") ?? target.endIndex
        let base = target[..<end]
        let joint = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        path = base + joint + query + target[end...]
    }

    /// Sets the content type unless the head already has one.
    mutating func setContentType(_ type: String) {
        if headerFields[.contentType] == nil { headerFields[.contentType] = type }
    }
}

/// Writes parameters as a query, or as an `application/x-www-form-urlencoded` body (URL Standard, 5).
public struct FormSerializer: RequestSerializer {
    /// Returns parameters as the text of a query, already escaped.
    public typealias Encoding = @Sendable (Parameters) throws(RequestSerializationError) -> String

    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// The format of dates and Booleans, and the names of arrays.
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
        _ request: HTTPRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        let query = try parameters.map { value throws(RequestSerializationError) in try text(value) } ?? ""
        var head = request
        guard !placement.methodsInTarget.contains(request.method) else {
            head.append(query: query)
            return .init(head: head)
        }
        head.setContentType("application/x-www-form-urlencoded")
        return .init(head: head, body: Array(query.utf8))
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
public struct JSONSerializer: RequestSerializer {
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
        _ request: HTTPRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !placement.methodsInTarget.contains(request.method) else {
            return try FormSerializer(placement: placement, options: options).serialize(request, parameters: parameters)
        }
        guard let tree = try parameters?.tree() else { return .init(head: request) }
        var head = request
        head.setContentType("application/json")
        return .init(head: head, body: JSONWriter.text(of: tree.json(options), isPretty: isPretty))
    }
}

/// Writes parameters as a property list body, or as a query for methods that have parameters in the target.
public struct PropertyListSerializer: RequestSerializer {
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
        _ request: HTTPRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !placement.methodsInTarget.contains(request.method) else {
            return try FormSerializer(placement: placement, options: options).serialize(request, parameters: parameters)
        }
        guard let tree = try parameters?.tree() else { return .init(head: request) }
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
        var head = request
        head.setContentType("application/x-plist")
        do {
            return .init(head: head, body: Array(try encoder.encode(content)))
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
