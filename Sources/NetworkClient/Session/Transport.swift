import NIOCore
import NIOHTTP1

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

/// One attempt of a request that the user's transport carries; confined to the session's event loop.
struct TransportAttempt {
    let core: SessionCore
    let handle: RequestHandle

    /// Gives the request to the transport, in a task of its own.
    func start(on transport: any Transport) {
        handle.run.history.begin(isReused: false)
        handle.run.metrics.assigned = .now()
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

    /// The request as this attempt sends it.
    private func prepared() -> PreparedRequest {
        var request = handle.current.copy
        request.head = core.stages.head(of: handle, hasProxy: false)
        return request
    }

    /// A body, read whole if it is not in memory.
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
        case .success(let response): handOn(DataResponse(response, handle))
        }
    }

    /// Gives a response to its receiver, if it has one.
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
                // It is all there: nobody has to be kept from sending.
                _ = try receiver.receive(response.buffer)
                core.keep(handle, receiver, response.withoutBody)
            }
        } catch {
            core.attemptFailed(handle, error)
        }
    }
}

extension DataResponse {
    /// What a transport gave for a request.
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
            metrics: handle.run.metrics,
            address: handle.current.url
        )
    }
}
