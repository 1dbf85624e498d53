import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// One attempt of a request on a connection: sends its head and body, receives its response, and enforces its timeouts.
///
/// Confined to the session's event loop. It is reused for later requests, which saves an allocation per request.
final class Exchange: HTTPExchange, DeadlineOwner {
    private let pool: HostConnections
    private let core: SessionCore
    private(set) lazy var timer = DeadlineTimer(self, core.loop)
    private lazy var sender = BodySender(self, core, timer)
    private var current: Current?

    /// The state of the current attempt.
    private struct Current {
        let handle: RequestHandle
        let connection: any HTTPConnection
        /// Whether its stream becomes a WebSocket (RFC 8441).
        let isTunnel: Bool
        var head: HTTPResponseHead?
        var assembly: BodyAssembly
        var lastActivity: NIODeadline
        /// The receiver of the response's body; nil for memory.
        var receiver: (any BodyReceiver)?
        /// Whether the receiver accepts no more bytes at the moment.
        var isReceiverBusy = false
        /// Whether the user has paused the request.
        var isPaused = false
        /// The stages' decision on the body of the response.
        var decision = HeadDecision.proceed
        /// The stages' closures that also receive the response's body; nil for none.
        var taps: [BodyTap]?
    }

    init(_ pool: HostConnections, _ core: SessionCore) {
        self.pool = pool
        self.core = core
    }

    /// Cancels the timer: the exchange is not used again.
    func retire() { timer.cancel() }

    // MARK: The request's head

    /// Sends a request on a connection that was started for this exchange.
    func begin(_ handle: RequestHandle, on connection: any HTTPConnection, _ record: ConnectionRecord?) {
        guard handle.run.canBegin else { return releaseUnused(connection) }
        let now = NIODeadline.now()
        handle.enter(.exchanging(self))
        handle.run.history.begin(isReused: connection.isReused)
        handle.beginExchange(on: record, isReused: connection.isReused, now)
        handle.run.metrics.attempts = handle.run.history.count
        if core.events.isObserved(handle) { reportAttempt(handle, record, isReused: connection.isReused) }
        current = .init(
            handle: handle,
            connection: connection,
            isTunnel: connection.allowsExtendedConnect && handle is WebSocketRequest,
            assembly: .init(limit: handle.current.maximumBodySize),
            lastActivity: now
        )
        do throws(HTTPError) {
            if handle.current.source != nil { try sender.openSource(of: handle) }
        } catch {
            handle.enter(.attemptEnded)
            releaseUnused(connection)
            return core.attemptFailed(handle, .unavailableBody(error, .neverSent))
        }
        let expectsContinue = handle.current.expectsContinue && handle.current.hasBody
        let isTunnel = current?.isTunnel == true
        let head = core.stages.head(of: handle, to: pool.endpoint)
        // If the connection is lost during the call, the head may still have been sent.
        handle.run.history.sent()
        // A long body may take time to read, in which the server can refuse the head. A server that has the head by itself
        // also takes the body faster: nginx then writes whole pages of it. A short body is sent together with its head, since
        // a connection is closed whose server responds before the body was sent.
        let goesAhead = expectsContinue || isTunnel || handle.current.source?.isLong == true
        connection.send(.head(isTunnel ? head.extendedConnect : head), for: self, flushes: goesAhead)
        guard current?.handle === handle else { return }
        timer.deadlines[.total] = handle.deadline.map(Instant.init)
        if isTunnel {
            sender.leaveOpen(handle, on: connection, now)
        } else {
            sender.send(handle, on: connection, expectsContinue: expectsContinue, now)
        }
        timer.schedule(at: now)
    }

    private func reportAttempt(_ handle: RequestHandle, _ record: ConnectionRecord?, isReused: Bool) {
        let metrics = record?.metrics ?? .init()
        core.events.tell(.attempt(handle.run.history.count, isReused: isReused, connection: metrics), handle)
    }

    /// Releases the connection for another request, because this one ended before it was sent.
    private func releaseUnused(_ connection: any HTTPConnection) {
        current = nil
        sender.end()
        connection.withdraw(self)
        pool.retire(self)
    }

    /// Whether the head of the final response was received.
    var hasResponse: Bool { current?.head != nil }

    var hasRequestBody: Bool { current?.handle.current.hasBody ?? false }

    func connectionIsWritable() { sender.feed() }

    // MARK: The response

    var lastActivity: NIODeadline { current?.lastActivity ?? .now() }

    func receive(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head) where head.status.code < 200:
            if head.status == .continue { sender.release(.now()) }
        case .head(let head): receive(head)
        case .body(let bytes): receive(bytes)
        case .end: receiveEnd()
        }
    }

    func receiveUnexpected() {
        fail(
            .init(
                .invalidResponse,
                processing: .answered,
                reason: "the server sent a response that belongs to no request"
            )
        )
    }

    /// Releases the connection, or the stream, to the WebSocket that the request opens.
    func receiveSwitch(_ head: HTTPResponseHead) {
        guard let handle = current?.handle as? WebSocketRequest else { return receiveUnexpected() }
        handle.run.history.responseBegan()
        handle.run.metrics.answered = .now()
        current?.head = head
        if handle.run.scheduled != nil { core.dispatcher.receivedHead(handle, .init(head)) }
        if core.events.isObserved(handle) { core.events.tell(.head(.init(head)), handle) }
        core.stages.storeCookies(of: head, handle)
        guard let current, current.handle === handle else { return }
        do throws(HTTPError) {
            let agreement = try handle.agreement(with: head)
            guard let released = current.connection.releaseStream(of: self) else {
                throw .lost(nil, hasHead: false, at: handle.current.endpoint.text)
            }
            handle.run.metrics.end = .now()
            end()
            if handle.current.login != nil { core.authenticator.succeeded(handle, head) }
            pool.opened(handle, released, head, agreement)
            pool.retire(self)
        } catch {
            fail(error)
        }
    }

    private func receive(_ head: HTTPResponseHead) {
        guard let handle = current?.handle else { return }
        let status = head.status.code
        if current?.isTunnel == true {
            // Any 2xx opens the WebSocket (RFC 8441, 4).
            guard status >= 300 else { return receiveSwitch(head) }
            current?.connection.send(.end(nil), for: self, flushes: true)
        }
        let now = NIODeadline.now()
        handle.run.history.responseBegan()
        handle.run.metrics.answered = now
        handle.run.metrics.response = (Int(status), head.version)
        current?.head = head
        timer.deadlines[.firstByte] = nil
        timer.set(.read, after: handle.current.limits.read, from: now)
        timer.schedule(at: now)
        if handle.run.scheduled != nil { core.dispatcher.receivedHead(handle, .init(head)) }
        if core.events.isObserved(handle) { core.events.tell(.head(.init(head)), handle) }
        // A listener may have ended the request.
        guard current?.handle === handle else { return }
        if status >= 300 { sender.closeFeed() }
        do throws(HTTPError) {
            let decision = core.stages.received(head, handle)
            current?.decision = decision
            if decision == .discard { current?.assembly.limit = Self.maximumDiscardedSize }
            current?.taps = core.stages.bodyTaps(head, handle)
            if !decision.withholdsBody, let receiver = handle.run.extras?.receiver { try begin(head, receiver, handle) }
            // Such a response may still have a Content-Length (RFC 9110, 8.6).
            if handle.current.head.method != .HEAD, !head.hasNoBody {
                let decompresses = core.configuration.decompresses && decision != .discard
                try current?.assembly.expect(head, decompresses: decompresses)
            }
            if current?.handle === handle, current?.decision.stopsWaiting == true { setReadDeadline(now) }
        } catch {
            fail(error)
        }
    }

    /// Asks the receiver where the body of this response is delivered.
    private func begin(
        _ head: HTTPResponseHead,
        _ receiver: any BodyReceiver,
        _ handle: RequestHandle
    ) throws(HTTPError) {
        switch try receiver.begin(head) {
        case .memory: break
        case .again where head.hasShortBody:
            handle.extras.wantsRestart = true
            current?.decision = .expectResend
        case .again: core.restart(handle, self)
        case .whole: current?.receiver = receiver
        case .here:
            current?.receiver = receiver
            let present = receiver.progress.map { Int(clamping: $0.bytes) } ?? 0
            core.events.reportResumption(of: handle, receiver)
            current?.assembly.limit = max(0, handle.current.maximumStreamSize - present)
            current?.assembly.isKept = false
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        guard let handle = current?.handle else { return }
        handle.run.metrics.bodyBytesReceived += bytes.readableBytes
        let now = NIODeadline.now()
        current?.lastActivity = now
        if let taps = current?.taps { for tap in taps { tap(bytes) } }
        // A discarded body has one timeout for all of it.
        if current?.decision != .discard { timer.set(.read, after: readTimeout, from: now) }
        do throws(HTTPError) {
            if current?.receiver == nil { try current?.assembly.append(bytes) } else { try deliver(bytes) }
        } catch {
            return fail(error)
        }
        if core.events.isObserved(handle) {
            core.events.reportReceived(handle, by: current?.receiver, of: current?.assembly.announced)
        }
    }

    /// Passes received bytes to the receiver, and stops reading while it is busy.
    private func deliver(_ bytes: ByteBuffer) throws(HTTPError) {
        guard let receiver = current?.receiver else { return }
        guard current?.assembly.isKept == false else { return try current?.assembly.append(bytes) ?? () }
        if let decompressor = current?.assembly.decompressor {
            decompressor.feed(bytes)
            return try inflate()
        }
        try current?.assembly.pass(bytes.readableBytes)
        try hand(bytes, to: receiver)
    }

    /// Decompresses received bytes piece by piece while the receiver accepts them: a few bytes may expand to very many.
    private func inflate() throws(HTTPError) {
        guard let decompressor = current?.assembly.decompressor, let receiver = current?.receiver else { return }
        while current?.isReceiverBusy == false, let piece = try decompressor.next() {
            try hand(piece, to: receiver)
        }
    }

    private func hand(_ bytes: ByteBuffer, to receiver: any BodyReceiver) throws(HTTPError) {
        guard let taken = try receiver.receive(bytes) else { return }
        current?.isReceiverBusy = true
        updateReading()
        timer.deadlines[.read] = nil
        taken.assumeIsolated().whenComplete { [self] result in
            guard current?.receiver === receiver else { return }
            switch result {
            case .failure(let error): fail(.bodyWriteFailed(error))
            case .success:
                current?.isReceiverBusy = false
                resumeReading()
            }
        }
    }

    private func resumeReading() {
        guard current?.isPaused == false, current?.isReceiverBusy == false else { return }
        do throws(HTTPError) {
            try inflate()
        } catch {
            return fail(error)
        }
        guard current?.isReceiverBusy == false else { return }
        if current?.head != nil {
            let now = NIODeadline.now()
            current?.lastActivity = now
            setReadDeadline(now)
        }
        updateReading()
    }

    /// Starts or stops reading: it stops while the receiver is busy or the request paused.
    private func updateReading() {
        guard let current else { return }
        current.connection.setReading(!current.isPaused && !current.isReceiverBusy, for: self)
    }

    private func receiveEnd() {
        // Taken, not copied: it has many references.
        guard let head = current?.head, var finished = current.take() else { return }
        let body: ByteBuffer
        do throws(HTTPError) {
            body = try finished.assembly.finish()
        } catch {
            current = finished
            return fail(error)
        }
        let handle = finished.handle
        handle.run.metrics.end = .now()
        end()
        handle.enter(.attemptEnded)
        let response = DataResponse(head, body, of: handle)
        if let receiver = finished.receiver {
            core.keep(handle, receiver, response)
        } else {
            core.answered(handle, response)
        }
        pool.retire(self)
    }

    /// Forgets an attempt that has ended in order.
    private func end() {
        sender.end()
        current = nil
        timer.deadlines.clear()
    }

    /// Reserves the connection for the next attempt of the request.
    ///
    /// - Returns: The connections of its endpoint, which keep the reservation.
    func reserveConnection(for handle: RequestHandle) -> HostConnections? {
        // Over HTTP/2, credentials belong to no connection (RFC 9113, 9.1.1, and MS-NTHT, 3).
        guard let current, current.handle === handle, !current.connection.isMultiplexed else { return nil }
        pool.reserve(current.connection, for: handle)
        return pool
    }

    // MARK: Responses that another request follows

    /// The maximum number of bytes of a discarded body that are read to keep the connection; it is closed for a longer
    /// one.
    private static let maximumDiscardedSize = 65_536

    /// The read timeout that applies to the response.
    private var readTimeout: Duration? {
        let limit = current?.handle.current.limits.read
        guard current?.decision.stopsWaiting == true else { return limit }
        let gracePeriod = core.configuration.fixedLimits.discardedBody
        return min(limit ?? gracePeriod, gracePeriod)
    }

    /// Sets the read deadline.
    private func setReadDeadline(_ now: NIODeadline) {
        timer.set(.read, after: readTimeout, from: now)
        timer.schedule(at: now)
    }

    /// Stops waiting for a body that another request most likely follows; if none does, the request fails with the
    /// timeout.
    private func endLikelyFollowed() {
        guard let current, let head = current.head else { return }
        var error = HTTPError.timedOut(.read, after: readTimeout, at: current.handle.current.endpoint.text)
        error.response = .init(head)
        error.body = current.assembly.prefix(core.configuration.maximumErrorBodySize)
        current.handle.following.missingBody = error
        endDiscarded()
    }

    /// Ends the attempt without the rest of the body, and closes the connection.
    private func endDiscarded() {
        guard let current, let head = current.head else { return }
        let handle = current.handle
        handle.run.metrics.end = .now()
        // The rest of its body is missing.
        handle.run.extras?.caching?.writer = nil
        let response = DataResponse(head, ByteBuffer(), of: handle)
        handle.enter(.attemptEnded)
        abandon()
        core.answered(handle, response)
    }

    // MARK: Pausing

    /// Whether a pause may close the connection, because the receiver continues where it stopped.
    var canContinueByRange: Bool { current?.receiver?.continuesByRange == true }

    /// Stops sending and reading, and suspends the deadlines.
    func pause() {
        guard current != nil else { return }
        current?.isPaused = true
        sender.pause()
        timer.isSuspended = true
        updateReading()
    }

    /// Resumes sending and reading; the deadline of the current stage starts over.
    func resume() {
        guard let current, current.isPaused else { return }
        self.current?.isPaused = false
        let now = NIODeadline.now()
        timer.isSuspended = false
        timer.deadlines.clear()
        timer.deadlines[.total] = current.handle.deadline.map(Instant.init)
        sender.resume(now)
        timer.schedule(at: now)
        resumeReading()
        sender.feed()
    }

    // MARK: Timeouts

    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline) {
        guard let current else { return }
        let limits = current.handle.current.limits
        switch kind {
        case .idle: break
        case .total: timedOut(.total, limits.total)
        case .read where current.decision.isLikelyResent: endLikelyFollowed()
        case .read: timedOut(.read, limits.read)
        case .firstByte where sender.isHeld: sender.release(now)
        case .firstByte: timedOut(.firstByte, limits.firstByte)
        case .write: sender.checkWriting(now)
        }
    }

    /// Fails the attempt because a stage exceeded its limit.
    func timedOut(_ stage: Timeouts.Stage, _ limit: Duration?) {
        guard let current else { return }
        // First, so that the connection gets no other request if it is dead.
        if stage == .total {
            // A working connection may carry a request that takes too long.
            current.connection.checkLiveness(ifSilentSince: current.lastActivity)
        } else {
            current.connection.checkLiveness()
        }
        // Nothing follows a response, even one whose body is discarded, once the request's time is over.
        if stage == .total { self.current?.decision = .proceed }
        fail(.timedOut(stage, after: limit, at: current.handle.current.endpoint.text))
    }

    // MARK: The end

    var pathLossPolicy: PathLossPolicy { current?.handle.current.policy.pathLoss ?? .failFast }

    func pathWasLost(_ loss: PathLoss) {
        guard let current, let reason = loss.reason(at: current.handle.current.endpoint) else { return abandon() }
        let processing: Processing = current.head == nil ? .maybeProcessed : .answered
        fail(.init(.pathLost, processing: processing, reason: reason))
    }

    func connectionWasLost(_ cause: (any Error)?, hasResponseBegun: Bool) {
        guard let current else { return }
        let host = current.handle.current.endpoint.text
        let error = HTTPError.lost(cause, hasHead: current.head != nil, at: host)
        fail(error, isLoss: error.code == .connectionLost && !hasResponseBegun)
    }

    func exchangeFailed(_ error: HTTPError, isUnprocessed: Bool) {
        guard let current else { return }
        guard isUnprocessed else { return fail(error) }
        current.handle.enter(.attemptEnded)
        abandon()
        core.attemptWasRefused(current.handle, error)
    }

    /// Fails the attempt with an error.
    func fail(_ error: HTTPError, isLoss: Bool = false) {
        guard let current else { return }
        if current.decision == .discard { return endDiscarded() }
        var error = error
        if let head = current.head {
            error.response = .init(head)
            error.body = current.assembly.prefix(core.configuration.maximumErrorBodySize)
        }
        current.handle.enter(.attemptEnded)
        abandon()
        core.attemptFailed(current.handle, error, isLoss: isLoss)
    }

    /// Cancels the exchange because the program has cancelled or paused its request, perhaps since the connection is dead.
    func cancel() {
        // First, so that the connection gets no other request if it is dead.
        current?.connection.checkLiveness(beforeCancelling: self, at: .now())
        abandon()
    }

    /// Cancels the exchange on its connection; the request ends or continues without it.
    func abandon() {
        core.loop.preconditionInEventLoop()
        current?.connection.cancel(self)
    }

    func connectionHasEnded() {
        guard let dropped = current else { return }
        current = nil
        dropped.handle.run.metrics.end = .now()
        timer.cancel()
        sender.end()
        dropped.receiver?.abandon()
        // The exchange is not reused: its caller may still be using it when the next attempt begins.
    }
}

extension HTTPResponseHead {
    /// Whether reading the body costs less than opening another connection.
    fileprivate var hasShortBody: Bool {
        headers.first(name: "Content-Length").flatMap { Int($0) }.map { $0 <= 65_536 } ?? false
    }
}
