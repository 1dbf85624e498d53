/// Carries whole requests in place of the session's own connections: answers made up for tests, another protocol.
///
/// Serializers, defaults, events, cancelling and the limit of the whole request are the session's as ever; the limits of
/// the stages are the transport's own business.
///
/// ```swift
/// struct Stub: Transport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         .init(head: .init(status: .ok, headerFields: [.contentType: "application/json"]), body: Array("{}".utf8))
///     }
/// }
/// let session = try HTTPSession(baseURL: "https://api.example.com", configuration: .init(transport: Stub()))
/// ```
public protocol Transport: Sendable {
    /// Sends a request and gives its answer; called in a task of its own, which is cancelled with the request.
    ///
    /// - Parameter request: The request, ready for the wire.
    /// - Returns: The answer, decompressed.
    /// - Throws: ``HTTPError``, which becomes the request's; anything else becomes the cause of one with code
    ///   ``HTTPError/Code/connectionLost``.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request as a transport gets it.
public struct TransportRequest: Sendable {
    /// Method, URL and fields.
    public var head: HTTPRequest
    /// The body; nil for none.
    ///
    /// One that is not in memory was read whole.
    public var body: [UInt8]?
    /// The request's limits.
    public var timeouts: Timeouts
}

/// An answer as a transport gives it.
public struct TransportResponse: Sendable {
    /// Status and fields.
    public var head: HTTPResponse
    /// The body.
    public var body: [UInt8]

    /// Makes an answer.
    public init(head: HTTPResponse, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
