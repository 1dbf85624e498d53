public import HTTPTypes

/// Writes parameters into a request: into its target, or into a body with a content type.
///
/// A session calls its serializer once for each request that is made, before the first attempt: also for a request without
/// parameters, and for one with a body of its own. A serializer can therefore sign requests, or add fields to all of them:
///
/// ```swift
/// struct SigningSerializer: RequestSerializer {
///     let inner = JSONSerializer()
///
///     func serialize(
///         _ request: SerializedRequest,
///         parameters: Parameters?
///     ) throws(RequestSerializationError) -> SerializedRequest {
///         var request = try inner.serialize(request, parameters: parameters)
///         request.head.headerFields[.signature] = signature(of: request.head, request.body)
///         return request
///     }
/// }
/// ```
///
/// To change each attempt, also after a redirect, use an interceptor. A serializer has no state and may be used from any
/// thread.
public protocol RequestSerializer: Sendable {
    /// The format of parameters that become parts of a multipart form.
    var options: ParameterOptions { get }

    /// Returns a request with its parameters.
    ///
    /// The serializers of this library write the parameters of a request with a body of its own into the query.
    ///
    /// - Parameters:
    ///   - request: The request so far. Fields that it already has should not be overwritten.
    ///   - parameters: The parameters; nil for none, and for a multipart form, whose parts they are.
    /// - Returns: The head and the body.
    /// - Throws: ``RequestSerializationError`` if the parameters can't be written in this format.
    func serialize(
        _ request: SerializedRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest
}

extension RequestSerializer {
    /// The default format.
    public var options: ParameterOptions { .init() }
}

/// A request with its body, before and after its parameters are written.
public struct SerializedRequest: Sendable, Hashable {
    /// The method, target and header fields.
    public var head: HTTPRequest
    /// The body in memory; nil for none, which differs from an empty body, and for a streamed body.
    public var body: [UInt8]?
    /// Whether the request has a body that is read while it is sent: a file, a sequence or a multipart form.
    ///
    /// A serializer can't replace such a body.
    public let hasStreamedBody: Bool

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - head: The method, target and header fields.
    ///   - body: The body in memory; nil for none.
    ///   - hasStreamedBody: Whether the request has a body that is read while it is sent.
    public init(head: HTTPRequest, body: [UInt8]? = nil, hasStreamedBody: Bool = false) {
        self.head = head
        self.body = body
        self.hasStreamedBody = hasStreamedBody
    }

    var hasBody: Bool { body != nil || hasStreamedBody }
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

    /// Returns whether a request's parameters are written into the target, because of its method or its own body.
    func isTarget(of request: SerializedRequest) -> Bool {
        request.hasBody || methodsInTarget.contains(request.head.method)
    }
}

/// A serializer of this library, which leaves requests unchanged that have neither parameters nor a place for a body.
package protocol PlacingSerializer: RequestSerializer {
    /// The methods whose parameters are written into the target.
    var placement: ParameterPlacement { get }
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
