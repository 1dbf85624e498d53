import Crypto
import FoundationEssentials
import Locking
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// The request that opens a WebSocket: a GET whose response changes the protocol (RFC 6455, 4), or, on a connection with
/// HTTP/2 whose server allows it, an extended CONNECT (RFC 8441).
///
/// It finishes with the WebSocket.
final class WebSocketRequest: RequestHandle, @unchecked Sendable {
    /// The first result: the connection, or the outcome of the request if there is none.
    enum Beginning: Sendable {
        case open(WebSocketConnection, HTTPResponse)
        case end(Result<DataResponse, HTTPError>)
    }

    private struct Opening {
        var beginning: Beginning?
        var waiters: [UnsafeContinuation<Beginning, Never>] = []
    }

    private let opening = Lock(Opening())
    /// The key of the current attempt; confined to the session's event loop.
    private let key = WebSocketKey()

    required init(id: UInt64, _ request: consuming PreparedRequest, core: SessionCore) {
        super.init(id: id, request, core: core)
        whenEnded { [weak self] in self?.begin(.end($0)) }
    }

    /// The settings of the WebSocket.
    var options: WebSocketOptions {
        if case .webSocket(let options) = request.destination { options } else { .init() }
    }

    override func makeReceiver() -> (any BodyReceiver)? { key }

    /// Checks the response that opens the WebSocket.
    ///
    /// - Throws: `webSocketRefused`; the reason says what is wrong.
    func agreement(with head: HTTPResponseHead) throws(HTTPError) -> WebSocketHandshake.Agreement {
        do throws(WebSocketRefusal) {
            let accept = head.version == .http2Final ? nil : key.accept
            return try options.handshake.agreement(accept: accept) { head.headers[$0] }
        } catch {
            let reason = "\(current.endpoint.text) does not complete the WebSocket handshake: \(error.reason)"
            throw .init(.webSocketRefused, processing: .answered, reason: reason, cause: error)
        }
    }

    /// Delivers the first result; later ones are ignored.
    func begin(_ beginning: Beginning) {
        let waiters = opening.withLock { state -> [UnsafeContinuation<Beginning, Never>] in
            guard state.beginning == nil else { return [] }
            state.beginning = beginning
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: beginning) }
    }

    /// Waits until the WebSocket is open; cancelling the task cancels the request.
    ///
    /// - Throws: The request's ``HTTPError``; `webSocketRefused` for another response.
    func opened() async throws(HTTPError) -> WebSocket {
        let beginning = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let begun = opening.withLock { state -> Beginning? in
                    if state.beginning == nil { state.waiters.append(continuation) }
                    return state.beginning
                }
                if let begun { continuation.resume(returning: begun) }
            }
        } onCancel: {
            cancel()
        }
        switch beginning {
        case .open(let connection, let head): return .init(connection, head)
        case .end(let ending): throw refusal(by: try ending.get())
        }
    }

    private func refusal(by response: DataResponse) -> HTTPError {
        var error = HTTPError(
            .webSocketRefused,
            processing: .init(status: response.status),
            reason: """
                the server responded with \(response.head.status) and opened no WebSocket: \
                see whether there is one at this URL
                """
        )
        error.request = request.description
        error.response = response.head
        error.body = Array(response.buffer.readableBytesView.prefix(core.configuration.maximumErrorBodySize))
        return error
    }
}

/// The key of the opening handshake, a random one for each attempt; confined to the session's event loop.
private final class WebSocketKey: BodyReceiver {
    private var key = ""
    let canStartAgain = true
    let continuesByRange = false

    /// The value that the server must return (RFC 6455, 4.2.2).
    var accept: String {
        let digest = Insecure.SHA1.hash(data: Array("\(key)\(WebSocketHandshake.acceptSuffix)".utf8))
        return Data(digest).base64EncodedString()
    }

    func willSend(_ head: inout HTTPRequestHead) {
        key = Data((0..<16).map { _ in .random(in: .min ... .max) }).base64EncodedString()
        head.headers.replaceOrAdd(name: "Sec-WebSocket-Key", value: key)
    }

    func begin(_ head: HTTPResponseHead) -> Reception { .memory }

    func receive(_ bytes: ByteBuffer) -> EventLoopFuture<Void>? { nil }

    func end() -> EventLoopFuture<Void>? { nil }

    func abandon() {}
}

extension HTTPSession {
    /// Opens a WebSocket (RFC 6455).
    ///
    /// ```swift
    /// let socket = try await session.webSocket("feed")
    /// try await socket.send("hello")
    /// for try await message in socket.messages { print(message) }
    /// ```
    /// The opening handshake is a GET of the session, with its gate, proxies, trust settings, credentials, redirects,
    /// retries and interceptors. The schemes `ws` and `wss` are the same as `http` and `https`. A proxy opens a tunnel.
    /// The connection then leaves the session's pool. If the session has a connection to the origin with HTTP/2 whose server
    /// allows it, the WebSocket is a stream of that one (RFC 8441). ``Timeouts/total`` and ``Timeouts/read`` apply to the
    /// handshake only.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: The parameters, which become the query.
    ///   - headers: Fields that replace the session's of the same name, except for those of the handshake.
    ///   - webSocketOptions: The settings of the WebSocket.
    ///   - options: The options of the handshake's request; `startsAtOnce` is ignored.
    /// - Returns: The WebSocket, which is open.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/webSocketRefused`` if the server does not open a WebSocket, with its
    ///   response. Cancelling the task cancels the request.
    public func webSocket(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        webSocketOptions: WebSocketOptions = .init(),
        options: RequestOptions = .init()
    ) async throws(HTTPError) -> WebSocket {
        let headers = try webSocketOptions.handshakeFields(adding: headers)
        guard configuration.transport == nil else {
            let reason = "a WebSocket needs the session's own connections: use a session without a transport"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        var options = options
        options.destination = .webSocket(webSocketOptions)
        options.startsAtOnce = true
        let request: WebSocketRequest = make(.get, reference, parameters, headers, .none, options)
        return try await request.opened()
    }
}

extension WebSocketOptions {
    /// Returns the fields of the handshake's request.
    ///
    /// - Throws: `invalidConfiguration` if the options are contradictory, or the user's fields contain one of the
    ///   handshake.
    fileprivate func handshakeFields(adding headers: HTTPFields) throws(HTTPError) -> HTTPFields {
        if let flaw { throw .init(.invalidConfiguration, processing: .neverSent, reason: flaw) }
        var fields = headers
        for field in headers where field.name.isOfHandshake {
            let reason = "the field \(field.name) is set by the handshake: use WebSocketOptions, and leave it out"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        for (name, value) in handshake.fields {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}

extension HTTPField.Name {
    /// Whether the field is a part of the opening handshake.
    fileprivate var isOfHandshake: Bool {
        let name = canonicalName
        return name == "connection" || name == "upgrade" || name.hasPrefix("sec-websocket-")
    }
}
