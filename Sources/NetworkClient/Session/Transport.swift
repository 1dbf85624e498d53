import NIOCore
import NIOHTTP1

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
    /// - Returns: The response, decompressed.
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
    /// The body.
    public var body: [UInt8]

    /// Creates a response.
    public init(head: HTTPResponse, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}

/// One attempt of a request that is sent by a custom transport; confined to the session's event loop.
struct TransportAttempt {
    let core: SessionCore
    let handle: RequestHandle

    /// Passes the request to the transport, in a task of its own.
    func start(on transport: any Transport) {
        handle.run.history.begin(isReused: false)
        handle.beginExchange(on: nil, isReused: false, .now())
        let attempt = handle.run.history.count
        handle.run.metrics.attempts = attempt
        if core.isObserved(handle) {
            core.tell(.attempt(attempt, isReused: false, connection: .init()), handle)
        }
        let request = prepared()
        if request.source != nil { handle.extras.wasBodyRead = true }
        let (core, handle) = (core, handle)
        let task = Task {
            let result: Result<TransportResponse, any Error>
            do {
                let body = try await Self.wholeBody(of: request, on: core.loop)
                let whole = TransportRequest(head: request.publicHead, body: body, timeouts: request.limits)
                result = .success(try await transport.send(whole))
            } catch {
                result = .failure(error)
            }
            core.loop.execute { TransportAttempt(core: core, handle: handle).ended(result) }
        }
        handle.enter(.carried(task))
        core.limit(handle)
    }

    /// Returns the request with the fields of this attempt.
    private func prepared() -> PreparedRequest {
        var request = handle.current.copy
        request.head = core.stages.head(of: handle, hasProxy: false)
        return request
    }

    /// Returns the whole body, which is read if it is not in memory.
    private static func wholeBody(of request: PreparedRequest, on loop: any EventLoop) async throws -> [UInt8]? {
        guard let source = request.source else { return request.body.map { Array($0.readableBytesView) } }
        var body: [UInt8] = []
        do {
            try await source.read(on: loop) { body.append(contentsOf: $0.readableBytesView) }
        } catch {
            throw HTTPError.unavailableBody(error, .neverSent)
        }
        return body
    }

    private func ended(_ result: Result<TransportResponse, any Error>) {
        guard case .carried = handle.run.state else { return }
        handle.run.metrics.end = .now()
        handle.enter(.attemptEnded)
        switch result {
        case .failure(let cause):
            let unknown = HTTPError(
                .connectionLost,
                processing: .maybeProcessed,
                reason: "the transport failed: \(cause)",
                cause: cause
            )
            let error = cause as? HTTPError ?? unknown
            if error.processing != .neverSent { handle.run.history.sent() }
            core.attemptFailed(handle, error)
        case .success(let response):
            handle.run.metrics.response = (response.head.status.code, .http1_1)
            handOn(DataResponse(response, handle))
        }
    }

    /// Passes a response to its receiver, if it has one.
    private func handOn(_ response: DataResponse) {
        let decision = core.stages.received(response.http1, handle)
        for tap in core.stages.bodyTaps(response.http1, handle) ?? [] { tap(response.buffer) }
        guard let receiver = handle.run.extras?.receiver, !decision.withholdsBody else {
            return core.answered(handle, response)
        }
        do throws(HTTPError) {
            switch try receiver.begin(response.http1) {
            case .memory: core.answered(handle, response)
            case .whole: core.keep(handle, receiver, response)
            case .again:
                handle.extras.wantsRestart = true
                core.answered(handle, response)
            case .here:
                // The body is complete: no backpressure is needed.
                _ = try receiver.receive(response.buffer)
                core.keep(handle, receiver, response.withoutBody)
            }
        } catch {
            core.attemptFailed(handle, error)
        }
    }
}

extension DataResponse {
    /// Creates the response from that of a transport.
    fileprivate init(_ response: TransportResponse, _ handle: RequestHandle) {
        let status = HTTPResponseStatus(
            statusCode: response.head.status.code,
            reasonPhrase: response.head.status.reasonPhrase
        )
        var headers = HTTPHeaders()
        for field in response.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(
            http1: .init(version: .http1_1, status: status, headers: headers),
            buffer: ByteBuffer(bytes: response.body),
            recorded: handle.run.metrics,
            address: handle.current.url
        )
    }
}
