import FoundationEssentials
public import HTTPTypes

/// Puts parameters into a request: into its target, or into a body with a content type.
///
/// Users put their own encodings here. A serializer is a value without state, used from any thread.
public protocol RequestSerializer: Sendable {
    /// Gives the request with its parameters.
    ///
    /// - Parameters:
    ///   - request: The head so far. What it says already is never overwritten.
    ///   - parameters: What to send; nil for nothing.
    /// - Returns: The head and the body.
    /// - Throws: ``RequestSerializationError`` if the parameters can't be written this way.
    func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest
}

/// A request that is ready to be sent.
public struct SerializedRequest: Sendable, Hashable {
    /// Method, target and header.
    public var head: HTTPRequest
    /// The body; nil for none, which is not the same as an empty one.
    public var body: [UInt8]?

    /// Makes a request.
    public init(head: HTTPRequest, body: [UInt8]? = nil) {
        self.head = head
        self.body = body
    }
}

/// Why parameters can't be written.
public struct RequestSerializationError: Error, Sendable, CustomStringConvertible {
    /// What was wrong, where, and what to do.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}

/// Where parameters go: methods without a body of a defined meaning have them in the target (RFC 9110, 9.3).
public struct ParameterPlacement: Sendable, Hashable {
    /// The methods whose parameters go into the target.
    public var methodsInTarget: Set<HTTPRequest.Method>

    /// GET, HEAD and DELETE have their parameters in the target, unless told otherwise.
    public init(methodsInTarget: Set<HTTPRequest.Method> = [.get, .head, .delete]) {
        self.methodsInTarget = methodsInTarget
    }
}

extension HTTPRequest {
    /// Appends a query to the target, behind one that is there, and before a fragment.
    mutating func append(query: String) {
        guard !query.isEmpty else { return }
        let target = path ?? "/"
        let end = target.firstIndex(of: "#") ?? target.endIndex
        let base = target[..<end]
        let joint = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        path = base + joint + query + target[end...]
    }

    /// Says what the body is, unless the head says so already.
    mutating func setContentType(_ type: String) {
        if headerFields[.contentType] == nil { headerFields[.contentType] = type }
    }
}

/// Parameters as a query, or in the body as `application/x-www-form-urlencoded` (URL Standard, 5).
public struct FormSerializer: RequestSerializer {
    /// Turns parameters into a query's text, already escaped.
    public typealias Encoding = @Sendable (ParameterValue) throws(RequestSerializationError) -> String

    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// How the query is written; nil for names like `filter[open]`, sorted.
    public var encoding: Encoding?

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), encoding: Encoding? = nil) {
        self.placement = placement
        self.encoding = encoding
    }

    /// Without parameters a body that would be a form is an empty form.
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

/// Parameters as a JSON body (RFC 8259); as a query for methods that have them in the target.
///
/// A ``ParameterValue/set(_:)`` becomes an array, sorted, so that the same set always gives the same bytes.
public struct JSONSerializer: RequestSerializer {
    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// Whether keys are sorted and lines broken, for people.
    public var isPretty: Bool

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), isPretty: Bool = false) {
        self.placement = placement
        self.isPretty = isPretty
    }

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

/// Parameters as a property list (XML); as a query for methods that have them in the target.
public struct PropertyListSerializer: RequestSerializer {
    /// Which methods have their parameters in the target.
    public var placement: ParameterPlacement
    /// Whether the list is binary instead of XML.
    public var isBinary: Bool

    /// Makes a serializer.
    public init(placement: ParameterPlacement = .init(), isBinary: Bool = false) {
        self.placement = placement
        self.isBinary = isBinary
    }

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
            throw .init("the parameters can't be written as a property list, which is a dictionary or a list: \(error)")
        }
    }
}

extension ParameterValue {
    /// The value without nulls, at any depth: keys with one go, and elements that are one.
    public var withoutNulls: ParameterValue {
        switch self {
        case .array(let values): .array(values.filter { $0 != .null }.map(\.withoutNulls))
        case .set(let values): .set(Set(values.filter { $0 != .null }.map(\.withoutNulls)))
        case .dictionary(let values): .dictionary(values.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
