import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// One attempt of a request on a connection: sends its head and body, receives its response, and keeps its limits.
///
/// Confined to the session's event loop. It is used again for the next request, so that a request costs no allocation for it.
final class Exchange: HTTPExchange, DeadlineOwner {
    private let pool: HostConnections
    private let core: SessionCore
    private lazy var timer = DeadlineTimer(self, core.loop)
    private lazy var sender = BodySender(self, core, timer)
    private var current: Current?

    /// What there is to know of the present attempt.
    private struct Current {
        let handle: RequestHandle
        let connection: any HTTPConnection
        var head: HTTPResponseHead?
        var assembly: BodyAssembly
        var lastActivity: NIODeadline
        /// Takes the response's body, if it is for it.
        var receiver: (any BodyReceiver)?
        /// Whether the receiver can take no more for the moment.
        var isReceiverBusy = false
        /// Whether the user has paused the request.
        var isPaused = false
        /// Whether the response leads elsewhere, and its body is dropped.
        var discardsBody = false
        /// Whether another request most likely follows the response, whatever its body says.
        var isLikelyFollowed = false
        /// What stages give the response's body to as it arrives; nil for nothing.
        var taps: [BodyTap]?
    }

    init(_ pool: HostConnections, _ core: SessionCore) {
        self.pool = pool
        self.core = core
    }

    /// Lets go of the timer: the exchange is not used again.
    func retire() { timer.cancel() }

    // MARK: The request's head

    /// Sends a request on a connection that was started for this exchange.
    func begin(_ handle: RequestHandle, on connection: any HTTPConnection, _ record: ConnectionRecord?) {
        guard handle.run.canBegin else { return giveBack(connection) }
        let now = NIODeadline.now()
        handle.enter(.exchanging(self))
        handle.run.history.begin(isReused: connection.isReused)
        handle.run.metrics.assigned = now
        handle.run.metrics.connection = record
        handle.run.metrics.isReused = connection.isReused
        handle.run.metrics.attempts = handle.run.history.count
        if core.isObserved(handle) { tellOfAttempt(handle, record, isReused: connection.isReused) }
        current = .init(
            handle: handle,
            connection: connection,
            assembly: .init(limit: handle.current.maximumBodySize),
            lastActivity: now
        )
        do throws(HTTPError) {
            try sender.begin(handle, on: connection)
        } catch {
            handle.enter(.attemptEnded)
            giveBack(connection)
            return core.attemptFailed(handle, .unavailableBody(error, .neverSent))
        }
        let asksFirst = handle.current.expectsContinue && handle.current.hasBody
        let head = head(of: handle)
        // A connection that is found lost in the middle of this has been sent it all the same.
        handle.run.history.sent()
        connection.send(.head(head), for: self, flushes: asksFirst)
        guard current?.handle === handle else { return }
        timer.deadlines[.total] = handle.deadline.map(Instant.init)
        sender.send(asksFirst: asksFirst, now)
        timer.schedule(at: now)
    }

    private func tellOfAttempt(_ handle: RequestHandle, _ record: ConnectionRecord?, isReused: Bool) {
        let metrics = record?.metrics ?? .init()
        core.tell(.attempt(handle.run.history.count, isReused: isReused, connection: metrics), handle)
    }

    /// The request ended before it was sent: the connection serves the next.
    private func giveBack(_ connection: any HTTPConnection) {
        current = nil
        sender.end()
        connection.withdraw(self)
        pool.retire(self)
    }

    /// The head as it goes out in this attempt: a proxy that forwards the request reads the whole URL.
    private func head(of handle: RequestHandle) -> HTTPRequestHead {
        let hasProxy = pool.endpoint.proxy != nil
        var head = core.stages.head(of: handle, hasProxy: hasProxy)
        if hasProxy, pool.endpoint.isForwarded { head.uri = handle.current.url.absolute(head.uri) }
        return head
    }

    var hasRequestBody: Bool { current?.handle.current.hasBody ?? false }

    func connectionIsWritable() { sender.feed() }

    // MARK: The response

    var lastActivity: NIODeadline { current?.lastActivity ?? .now() }

    func receive(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head): receive(head)
        case .body(let bytes): receive(bytes)
        case .end: receiveEnd()
        }
    }

    func receiveUnexpected() {
        fail(.init(.invalidResponse, processing: .answered, reason: "the server answered what was not asked"))
    }

    private func receive(_ head: HTTPResponseHead) {
        guard let handle = current?.handle else { return }
        let status = head.status.code
        guard status >= 200 else {
            if status == 100 { sender.release(.now()) }
            return
        }
        let now = NIODeadline.now()
        handle.run.history.responseBegan()
        handle.run.metrics.answered = now
        current?.head = head
        timer.deadlines[.firstByte] = nil
        timer.set(.read, after: handle.current.limits.read, from: now)
        timer.schedule(at: now)
        if handle.run.scheduled != nil { core.dispatcher.sawHead(handle, .init(head)) }
        if core.isObserved(handle) { core.tell(.head(.init(head)), handle) }
        // What was told may have ended the request.
        guard current?.handle === handle else { return }
        sender.responseBegan(isRefusal: status >= 300)
        do throws(HTTPError) {
            try expectBody(of: head, handle)
            if current?.handle === handle, hasShortGrace { watchReading(now) }
        } catch {
            fail(error)
        }
    }

    private func expectBody(of head: HTTPResponseHead, _ handle: RequestHandle) throws(HTTPError) {
        let decision = core.stages.received(head, handle)
        take(decision)
        current?.taps = core.stages.bodyTaps(head, handle)
        if !decision.withholdsBody, let receiver = handle.run.extras?.receiver { try begin(head, receiver, handle) }
        // They may tell of a body all the same (RFC 9110, 8.6).
        guard handle.current.head.method != .HEAD, !head.hasNoBody else { return }
        let decompresses = core.configuration.decompresses && current?.discardsBody == false
        try current?.assembly.expect(head, decompresses: decompresses)
    }

    /// Asks the receiver of the response's body whether this one is for it.
    private func begin(
        _ head: HTTPResponseHead,
        _ receiver: any BodyReceiver,
        _ handle: RequestHandle
    ) throws(HTTPError) {
        switch try receiver.begin(head) {
        case .memory: break
        case .again where head.hasShortBody:
            handle.extras.wantsRestart = true
            current?.isLikelyFollowed = true
        case .again: core.restart(handle, self)
        case .whole: current?.receiver = receiver
        case .here:
            current?.receiver = receiver
            let present = receiver.progress.map { Int(clamping: $0.bytes) } ?? 0
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
        // A body that is dropped has one time for all of it.
        if current?.discardsBody != true { timer.set(.read, after: readLimit, from: now) }
        do throws(HTTPError) {
            if current?.receiver == nil { try current?.assembly.append(bytes) } else { try handOn(bytes) }
        } catch {
            return fail(error)
        }
        guard core.isObserved(handle) else { return }
        if let progress = current?.receiver?.progress {
            core.tell(.received(bytes: Int(progress.bytes), of: progress.total.map { Int($0) }), handle)
        } else {
            let count = handle.run.metrics.bodyBytesReceived
            core.tell(.received(bytes: count, of: current?.assembly.announced), handle)
        }
    }

    /// Gives the receiver what came; what it can't take at once stops the reading.
    private func handOn(_ bytes: ByteBuffer) throws(HTTPError) {
        guard let receiver = current?.receiver else { return }
        guard current?.assembly.isKept == false else { return try current?.assembly.append(bytes) ?? () }
        if let decompressor = current?.assembly.decompressor {
            decompressor.feed(bytes)
            return try inflate()
        }
        try current?.assembly.pass(bytes.readableBytes)
        try hand(bytes, to: receiver)
    }

    /// Inflates what came as far as the receiver takes it: a few bytes may be very many then.
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
                goOnReading()
            }
        }
    }

    private func goOnReading() {
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
            watchReading(now)
        }
        updateReading()
    }

    /// Lets the connection read, unless the receiver is busy or the request paused.
    private func updateReading() {
        guard let current else { return }
        current.connection.setReading(!current.isPaused && !current.isReceiverBusy, for: self)
    }

    private func receiveEnd() {
        guard var finished = current, let head = finished.head else { return }
        let body: ByteBuffer
        do throws(HTTPError) {
            body = try finished.assembly.finish()
        } catch {
            return fail(error)
        }
        let handle = finished.handle
        handle.run.metrics.end = .now()
        sender.end()
        current = nil
        timer.deadlines.clear()
        handle.enter(.attemptEnded)
        let response = DataResponse(
            http1: head,
            buffer: body,
            metrics: handle.run.metrics,
            address: handle.current.url
        )
        if let receiver = finished.receiver {
            core.keep(handle, receiver, response)
        } else {
            core.answered(handle, response)
        }
        pool.retire(self)
    }

    // MARK: Responses that lead elsewhere

    /// How much of a body that is dropped is read to keep the connection, in bytes; with more to come, it is closed.
    private static let maximumDiscardedSize = 65_536
    /// How long such a body may take, and how long nothing may come of one that another request most likely follows.
    private static let grace = Duration.seconds(2)

    /// Does with the body what the stages have decided.
    private func take(_ decision: HeadDecision) {
        guard decision != .proceed else { return }
        current?.isLikelyFollowed = decision.isLikelyResent
        guard decision == .discard else { return }
        current?.discardsBody = true
        current?.assembly.limit = Self.maximumDiscardedSize
    }

    /// Whether the body is read for the connection's sake, as long as it comes promptly.
    private var hasShortGrace: Bool { current.map { $0.discardsBody || $0.isLikelyFollowed } ?? false }

    /// How long nothing of the response may come.
    private var readLimit: Duration? {
        let limit = current?.handle.current.limits.read
        return hasShortGrace ? min(limit ?? Self.grace, Self.grace) : limit
    }

    /// Sets the moment by which more of the response must have come.
    private func watchReading(_ now: NIODeadline) {
        timer.set(.read, after: readLimit, from: now)
        timer.schedule(at: now)
    }

    /// Goes on without the rest of a body that does not come; if nothing follows the response after all, that is an error.
    private func leaveLikelyFollowed() {
        guard let current, let head = current.head else { return }
        var error = HTTPError.timedOut(.read, after: readLimit, at: current.handle.current.endpoint.text)
        error.response = .init(head)
        error.body = current.assembly.prefix(HTTPError.keptBody)
        current.handle.following.missingBody = error
        leaveDiscarded()
    }

    /// Goes on without the rest of such a body.
    private func leaveDiscarded() {
        guard let current, let head = current.head else { return }
        let handle = current.handle
        handle.run.metrics.end = .now()
        let response = DataResponse(
            http1: head,
            buffer: ByteBuffer(),
            metrics: handle.run.metrics,
            address: handle.current.url
        )
        handle.enter(.attemptEnded)
        abandon()
        core.answered(handle, response)
    }

    // MARK: Pausing

    /// Whether the connection can be given up in a pause, since the receiver goes on behind what it has.
    var canContinueByRange: Bool { current?.receiver?.continuesByRange == true }

    /// Sends no more of the body, reads no more of the response, and lets no deadline go on.
    func pause() {
        guard current != nil else { return }
        current?.isPaused = true
        sender.pause()
        timer.isSuspended = true
        updateReading()
    }

    /// Goes on where it was paused; each stage has its whole time again.
    func resume() {
        guard let current, current.isPaused else { return }
        self.current?.isPaused = false
        let now = NIODeadline.now()
        timer.isSuspended = false
        timer.deadlines.clear()
        timer.deadlines[.total] = current.handle.deadline.map(Instant.init)
        sender.resume(now)
        timer.schedule(at: now)
        goOnReading()
        sender.feed()
    }

    // MARK: Limits

    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline) {
        guard let current else { return }
        let limits = current.handle.current.limits
        switch kind {
        case .idle: break
        case .total: timedOut(.total, limits.total)
        case .read where current.isLikelyFollowed: leaveLikelyFollowed()
        case .read: timedOut(.read, limits.read)
        case .firstByte where sender.isHeld: sender.release(now)
        case .firstByte: timedOut(.firstByte, limits.firstByte)
        case .write: sender.checkWriting(now)
        }
    }

    /// A stage took longer than its limit.
    func timedOut(_ stage: Timeouts.Stage, _ limit: Duration?) {
        guard let current else { return }
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

    /// Ends the exchange, and tells the session why.
    func fail(_ error: HTTPError, isLoss: Bool = false) {
        guard let current else { return }
        if current.discardsBody { return leaveDiscarded() }
        var error = error
        if let head = current.head {
            error.response = .init(head)
            error.body = current.assembly.prefix(HTTPError.keptBody)
        }
        current.handle.enter(.attemptEnded)
        abandon()
        core.attemptFailed(current.handle, error, isLoss: isLoss)
    }

    /// Ends the exchange under a request that is wanted no more, or goes on otherwise.
    func abandon() {
        core.loop.preconditionInEventLoop()
        current?.connection.cancel(self)
    }

    func connectionHasEnded() {
        guard let dropped = current else { return }
        current = nil
        timer.cancel()
        sender.end()
        dropped.receiver?.abandon()
        // It is not used again: what called this may still be at work with it when the next attempt begins.
    }
}

extension PathLoss {
    /// What a request fails with; nil where there was none.
    fileprivate func reason(at endpoint: Endpoint) -> String? {
        let host = endpoint.way
        return switch self {
        case .idle: nil
        case .addressGone: "the address or the interface of the connection to \(host) is gone"
        case .silent(let time, let reasons):
            """
            the way to \(host) is gone, and nothing came for \(time)\
            \(reasons.isEmpty ? "" : " (\(reasons.map(\.rawValue).joined(separator: ", ")))")
            """
        case .notAllowed: "the way to \(host) is none any more that the request may take"
        }
    }
}

extension HTTPResponseHead {
    /// Whether it costs less to read the body than to open another connection.
    fileprivate var hasShortBody: Bool {
        headers.first(name: "Content-Length").flatMap { Int($0) }.map { $0 <= 65_536 } ?? false
    }
}
