import FoundationEssentials
public import HTTPTypes

/// Writes parameters into a request: into its target, or into a body with a content type.
///
/// Conform to this protocol for custom encodings. A serializer has no state and may be used from any thread.
public protocol RequestSerializer: Sendable {
    /// Returns a request with its parameters.
    ///
    /// - Parameters:
    ///   - request: The request head so far. Fields that it already has are never overwritten.
    ///   - parameters: The parameters; nil for none.
    /// - Returns: The head and the body.
    /// - Throws: ``RequestSerializationError`` if the parameters can't be written in this format.
    func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest
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

/// The reason why parameters can't be written.
public struct RequestSerializationError: Error, Sendable, CustomStringConvertible {
    /// The failure, its place and a remedy.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
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
    public typealias Encoding = @Sendable (ParameterValue) throws(RequestSerializationError) -> String

    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// A custom encoding of the query; nil for sorted names such as `filter[open]`.
    public var encoding: Encoding?

    /// Creates a serializer.
    public init(placement: ParameterPlacement = .init(), encoding: Encoding? = nil) {
        self.placement = placement
        self.encoding = encoding
    }

    /// Returns the request with its parameters.
    ///
    /// A body without parameters is an empty form.
    public func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
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

    private func text(_ parameters: ParameterValue) throws(RequestSerializationError) -> String {
        if let encoding { return try encoding(parameters) }
        return QueryPairs(parameters).text
    }
}

/// Writes parameters as a JSON body (RFC 8259), or as a query for methods that have parameters in the target.
///
/// A ``ParameterValue/set(_:)`` becomes a sorted array, so that equal sets always produce the same bytes.
public struct JSONSerializer: RequestSerializer {
    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// Whether the JSON is indented for human readers.
    public var isPretty: Bool

    /// Creates a serializer.
    public init(placement: ParameterPlacement = .init(), isPretty: Bool = false) {
        self.placement = placement
        self.isPretty = isPretty
    }

    /// Returns the request with its parameters.
    ///
    /// Without parameters there is no body.
    public func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !placement.methodsInTarget.contains(request.method) else {
            return try FormSerializer(placement: placement).serialize(request, parameters: parameters)
        }
        guard let parameters else { return .init(head: request) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = isPretty ? [.prettyPrinted, .sortedKeys] : [.sortedKeys, .withoutEscapingSlashes]
        var head = request
        head.setContentType("application/json")
        do {
            return .init(head: head, body: Array(try encoder.encode(parameters)))
        } catch {
            throw .init("the parameters can't be written as JSON, which has no infinite numbers: \(error)")
        }
    }
}

/// Writes parameters as a property list body, or as a query for methods that have parameters in the target.
public struct PropertyListSerializer: RequestSerializer {
    /// The methods whose parameters are written into the target.
    public var placement: ParameterPlacement
    /// Whether the property list is binary rather than XML.
    public var isBinary: Bool

    /// Creates a serializer.
    public init(placement: ParameterPlacement = .init(), isBinary: Bool = false) {
        self.placement = placement
        self.isBinary = isBinary
    }

    /// Returns the request with its parameters.
    ///
    /// Without parameters there is no body.
    public func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard !placement.methodsInTarget.contains(request.method) else {
            return try FormSerializer(placement: placement).serialize(request, parameters: parameters)
        }
        guard let parameters else { return .init(head: request) }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        var head = request
        head.setContentType("application/x-plist")
        do {
            return .init(head: head, body: Array(try encoder.encode(parameters.withoutNulls)))
        } catch {
            throw .init(
                "the parameters can't be written as a property list, which must be a dictionary or an array: \(error)"
            )
        }
    }
}

extension ParameterValue {
    /// The value without nulls at any depth: keys whose value is null and null elements are removed.
    public var withoutNulls: ParameterValue {
        switch self {
        case .array(let values): .array(values.filter { $0 != .null }.map(\.withoutNulls))
        case .set(let values): .set(Set(values.filter { $0 != .null }.map(\.withoutNulls)))
        case .dictionary(let values): .dictionary(values.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
