import NIOCore
public import NetworkClientCore

/// An open WebSocket (RFC 6455), made by
/// ``HTTPSession/webSocket(_:parameters:headers:webSocketOptions:options:)``.
///
/// ```swift
/// let socket = try await session.webSocket("feed")
/// try await socket.send("hello")
/// for try await message in socket.messages { print(message) }
/// await socket.close()
/// ```
/// Pings of the server are responded to while messages are read. The connection is read only as fast as the messages
/// are: about 256 KiB are received in advance. All members can be used from any thread. When the WebSocket and its
/// sequences of messages are released, it is closed with ``WebSocketCloseCode/goingAway``.
public final class WebSocket: Sendable {
    /// The response of the opening handshake.
    public let response: HTTPResponse
    let connection: WebSocketConnection

    init(_ connection: WebSocketConnection, _ response: HTTPResponse) {
        self.connection = connection
        self.response = response
    }

    deinit {
        let connection = connection
        connection.loop.execute { connection.release() }
    }

    /// The subprotocol that the server chose; nil for none.
    public var subprotocol: String? { connection.agreement.subprotocol }

    /// Whether messages are compressed: it was offered, and the server agreed.
    public var isCompressed: Bool { connection.agreement.compression != nil }

    /// The end of the WebSocket: the server's code and reason, or ``WebSocketCloseCode/abnormal`` if the connection ended
    /// without them; nil while it is open.
    public var closure: WebSocketClosure? { connection.inbox.closure }

    // MARK: Messages

    /// The received messages from now on; several readers share them.
    public var messages: Messages { .init(socket: self) }

    /// Waits for the next message.
    ///
    /// Cancelling the task ends the wait, and the WebSocket stays open.
    ///
    /// - Returns: The message; nil once the WebSocket is closed in order: by ``close(_:reason:)``, or by the server with
    ///   the code 1000 or 1001 or none.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/webSocketClosed`` if the server closed it with another code,
    ///   ``HTTPError/Code/webSocketFailed`` if it violated the protocol, or an error of the connection.
    public func receive() async throws(HTTPError) -> WebSocketMessage? { try await connection.inbox.next() }

    /// Sends a text message, and waits until the kernel has accepted it.
    ///
    /// Messages are sent in the order of the calls. If the task is cancelled, a message that is being sent is completed.
    ///
    /// - Throws: ``HTTPError``: ``HTTPError/Code/webSocketClosed`` after the end, or an error of the connection.
    public func send(_ text: String) async throws(HTTPError) { try await send(ByteBuffer(string: text), isText: true) }

    /// Sends a binary message, and waits until the kernel has accepted it; see ``send(_:)-(String)``.
    public func send(_ bytes: [UInt8]) async throws(HTTPError) {
        try await send(ByteBuffer(bytes: bytes), isText: false)
    }

    /// Sends a message, and waits until the kernel has accepted it; see ``send(_:)-(String)``.
    public func send(_ message: WebSocketMessage) async throws(HTTPError) {
        switch message {
        case .text(let text): try await send(text)
        case .binary(let bytes): try await send(bytes)
        }
    }

    private func send(_ payload: ByteBuffer, isText: Bool) async throws(HTTPError) {
        try await call { connection, call, completion in
            connection.send(payload, isText: isText, for: call, completion)
        }
    }

    /// Sends a ping, and waits for the pong.
    ///
    /// - Returns: The time from one to the other.
    /// - Throws: ``HTTPError`` if the WebSocket ends before.
    @discardableResult
    public func ping() async throws(HTTPError) -> Duration {
        try await call { connection, call, completion in connection.ping(for: call, completion) }
    }

    /// Runs a call on the event loop, and waits for its completion.
    private func call<Value: Sendable>(
        _ start:
            @escaping @Sendable (
                WebSocketConnection, WebSocketCall, @escaping (Result<Value, HTTPError>) -> Void
            ) -> Void
    ) async throws(HTTPError) -> Value {
        let (call, connection) = (WebSocketCall(), connection)
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Value, HTTPError>, Never>) in
                connection.loop.execute { start(connection, call) { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            call.cancel()
            connection.loop.execute { connection.cancel(call) }
        }
        return try result.get()
    }

    // MARK: Closing

    /// Closes the WebSocket: sends the queued messages and a Close frame, and waits for the server's, at most
    /// ``WebSocketOptions/closeTimeout``.
    ///
    /// Messages that arrive after the call are discarded; those that were received before can still be read.
    ///
    /// - Parameters:
    ///   - code: The code: 1000 to 1003, 1007 to 1014, or 3000 to 4999 (RFC 6455, 7.4). Other codes must not be sent, and
    ///     ``WebSocketCloseCode/normal`` is sent in their place.
    ///   - reason: The reason, of which at most 123 bytes are sent.
    /// - Returns: The server's code and reason.
    @discardableResult
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async -> WebSocketClosure {
        let closure = WebSocketClosure(code.isSendable ? code : .normal, reason: reason.cutForClosing)
        return await withUnsafeContinuation { continuation in
            connection.loop.execute { [connection] in
                connection.close(closure) { continuation.resume(returning: $0) }
            }
        }
    }

    /// The messages of a WebSocket.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = WebSocketMessage
        /// The error of the WebSocket.
        public typealias Failure = HTTPError

        let socket: WebSocket

        /// Creates an iterator.
        public func makeAsyncIterator() -> AsyncIterator { .init(socket: socket) }

        /// An iterator of the messages.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// Returns the next message; see ``WebSocket/receive()``.
            public mutating func next() async throws(HTTPError) -> WebSocketMessage? { try await socket.receive() }

            /// Returns the next message; see ``WebSocket/receive()``.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(HTTPError) -> WebSocketMessage? {
                try await socket.receive()
            }
        }
    }
}

extension String {
    /// The beginning of the text that fits into a Close frame.
    fileprivate var cutForClosing: String {
        var (text, size) = (self[...], utf8.count)
        while size > WebSocketClosure.maximumReasonSize, let last = text.unicodeScalars.popLast() {
            size -= UTF8.width(last)
        }
        return String(text)
    }
}
