/// A transport, which sends complete requests in place of the session's own connections.
///
/// It can supply stub responses in tests, or implement another protocol. Serializers, defaults, events, cancellation
/// and the total time limit still work as without it; the limits of the stages are left to the transport.
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
    /// Sends a request and returns its response; called in a task of its own, which is cancelled with the request.
    ///
    /// - Parameter request: The request, with all its fields.
    /// - Returns: The response, decompressed; its body may follow in parts.
    /// - Throws: ``HTTPError``, which becomes the request's. Any other error becomes the cause of one with the code
    ///   ``HTTPError/Code/connectionLost``.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request for a transport.
public struct TransportRequest: Sendable {
    /// The method, the URL and the header fields.
    public var head: HTTPRequest
    /// The body, read into memory; nil for none.
    public var body: [UInt8]?
    /// The request's time limits.
    public var timeouts: Timeouts
}

/// A response from a transport.
public struct TransportResponse: Sendable {
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The body; empty if it follows in parts.
    public var body: [UInt8]
    /// Passes the parts of the body to a closure, in order; nil for a body that is complete.
    var readParts: ReadParts?

    typealias ReadParts = @Sendable (_ receive: @Sendable ([UInt8]) async throws -> Void) async throws -> Void

    /// Creates a response.
    public init(head: HTTPResponse, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    /// Creates a response whose body follows in parts, as from a connection.
    ///
    /// The head is processed before the first part is requested, and a part is requested when the previous one was
    /// taken: a stream, a download and progress work as with a connection.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields.
    ///   - parts: The parts of the body, in order. An error that it throws ends the attempt, like one that
    ///     ``Transport/send(_:)`` throws; one that is no ``HTTPError`` becomes the cause of
    ///     ``HTTPError/Code/bodyTruncated``.
    public init<Parts: AsyncSequence & Sendable>(head: HTTPResponse, parts: Parts) where Parts.Element == [UInt8] {
        self.head = head
        body = []
        readParts = { receive in for try await part in parts { try await receive(part) } }
    }
}
