import NIOCore
import NIOHTTP1

/// One attempt of a request that is sent by a custom transport.
///
/// Unchecked, because everything except constants is used on the session's event loop only.
final class TransportAttempt: @unchecked Sendable {
    private let core: SessionCore
    private let handle: RequestHandle
    private let number: Int
    private var head: HTTPResponseHead?
    private var assembly: BodyAssembly
    /// The receiver of the body; nil for memory.
    private var receiver: (any BodyReceiver)?
    private var taps: [BodyTap]?

    init(core: SessionCore, handle: RequestHandle) {
        self.core = core
        self.handle = handle
        handle.run.history.begin(isReused: false)
        number = handle.run.history.count
        assembly = .init(limit: handle.current.maximumBodySize)
    }

    /// Passes the request to the transport, in a task of its own.
    func start(on transport: any Transport) {
        handle.beginExchange(on: nil, isReused: false, .now())
        handle.run.metrics.attempts = number
        if core.events.isObserved(handle) {
            core.events.tell(.attempt(number, isReused: false, connection: .init()), handle)
        }
        let request = prepared()
        if request.source != nil { handle.extras.wasBodyRead = true }
        let loop = core.loop
        let task = Task { [self] in
            do {
                let body = try await Self.wholeBody(of: request, on: loop)
                try await loop.submit { try self.willSend(body?.count) }.get()
                let whole = TransportRequest(head: request.publicHead, body: body, timeouts: request.limits)
                try await receive(transport.send(whole))
            } catch {
                loop.execute { self.fail(error) }
            }
        }
        handle.enter(.carried(task))
        core.limit(handle)
    }

    /// Whether the request still waits for this attempt.
    private var isCurrent: Bool {
        guard case .carried = handle.run.state else { return false }
        return handle.run.history.count == number
    }

    /// Returns the request with the fields of this attempt.
    private func prepared() -> PreparedRequest {
        var request = handle.current.copy
        request.head = core.stages.head(of: handle, to: nil)
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

    /// Reports that the request is passed to the transport.
    private func willSend(_ count: Int?) throws {
        guard isCurrent else { throw CancellationError() }
        handle.run.metrics.bodyBytesSent = count ?? 0
        // The server may have seen it, until the transport says that it has not.
        handle.run.history.sent()
        guard core.events.isObserved(handle) else { return }
        if let count { core.events.tell(.sending(bytes: count, of: Int64(count)), handle) }
        core.events.tell(.sent, handle)
    }

    // MARK: The response

    /// Passes a response on, part by part.
    private func receive(_ response: TransportResponse) async throws {
        let loop = core.loop
        let head = HTTPResponseHead(response.head)
        try await loop.submit { try self.begin(head) }.get()
        if let readParts = response.readParts {
            try await readParts { part in
                try await loop.flatSubmit { self.receive(part) }.get()
            }
        } else if !response.body.isEmpty {
            try await loop.flatSubmit { self.receive(response.body) }.get()
        }
        try await loop.submit { try self.end() }.get()
    }

    private func begin(_ head: HTTPResponseHead) throws {
        guard isCurrent else { throw CancellationError() }
        self.head = head
        handle.run.history.responseBegan()
        handle.run.metrics.answered = .now()
        handle.run.metrics.response = (Int(head.status.code), .http1_1)
        if handle.run.scheduled != nil { core.dispatcher.receivedHead(handle, .init(head)) }
        if core.events.isObserved(handle) { core.events.tell(.head(.init(head)), handle) }
        guard isCurrent else { throw CancellationError() }
        let decision = core.stages.received(head, handle)
        taps = core.stages.bodyTaps(head, handle)
        if let receiver = handle.run.extras?.receiver, !decision.withholdsBody { try begin(head, receiver) }
    }

    /// Asks the receiver where the body of this response is delivered.
    private func begin(_ head: HTTPResponseHead, _ receiver: any BodyReceiver) throws(HTTPError) {
        switch try receiver.begin(head) {
        case .memory: break
        case .again: handle.extras.wantsRestart = true
        case .whole: self.receiver = receiver
        case .here:
            self.receiver = receiver
            core.events.reportResumption(of: handle, receiver)
            let present = receiver.progress.map { Int(clamping: $0.bytes) } ?? 0
            assembly.limit = max(0, handle.current.maximumStreamSize - present)
            assembly.isKept = false
        }
    }

    /// Passes a part on; the next one may follow when the future has succeeded.
    private func receive(_ part: [UInt8]) -> EventLoopFuture<Void> {
        let bytes = ByteBuffer(bytes: part)
        do {
            guard isCurrent else { throw CancellationError() }
            handle.run.metrics.bodyBytesReceived += bytes.readableBytes
            if let taps { for tap in taps { tap(bytes) } }
            let taken = try take(bytes)
            if core.events.isObserved(handle) {
                let announced = head?.headers.first(name: "Content-Length").flatMap { Int($0) }
                core.events.reportReceived(handle, by: receiver, of: announced)
            }
            return taken ?? core.loop.makeSucceededVoidFuture()
        } catch {
            return core.loop.makeFailedFuture(error)
        }
    }

    private func take(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        guard let receiver, !assembly.isKept else {
            try assembly.append(bytes)
            return nil
        }
        try assembly.pass(bytes.readableBytes)
        return try receiver.receive(bytes)
    }

    private func end() throws {
        guard isCurrent, let head else { throw CancellationError() }
        let body = try assembly.finish()
        handle.run.metrics.end = .now()
        handle.enter(.attemptEnded)
        let response = DataResponse(head, body, of: handle)
        if let receiver { core.keep(handle, receiver, response) } else { core.answered(handle, response) }
    }

    private func fail(_ cause: any Error) {
        guard isCurrent else { return }
        handle.run.metrics.end = .now()
        handle.enter(.attemptEnded)
        receiver?.abandon()
        var error = cause as? HTTPError ?? .transport(cause, hasHead: head != nil)
        if let head {
            error.response = .init(head)
            error.body = assembly.prefix(core.configuration.maximumErrorBodySize)
        }
        if error.processing == .neverSent { handle.run.history.notSent() } else { handle.run.history.sent() }
        core.attemptFailed(handle, error)
    }
}

extension HTTPError {
    /// The error for a failure of a transport that is none of its own errors.
    fileprivate static func transport(_ cause: any Error, hasHead: Bool) -> Self {
        .init(
            hasHead ? .bodyTruncated : .connectionLost,
            processing: hasHead ? .answered : .maybeProcessed,
            reason: "the transport failed: \(cause)",
            cause: cause
        )
    }
}

extension HTTPResponseHead {
    /// Creates the head from that of a transport's response.
    fileprivate init(_ head: HTTPResponse) {
        let status = HTTPResponseStatus(statusCode: head.status.code, reasonPhrase: head.status.reasonPhrase)
        var headers = HTTPHeaders()
        for field in head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(version: .http1_1, status: status, headers: headers)
    }
}
