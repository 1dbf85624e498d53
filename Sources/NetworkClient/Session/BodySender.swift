import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore

/// Sends the request body of one attempt as fast as the connection accepts it, and enforces the write timeout.
///
/// Confined to the session's event loop. It belongs to an ``Exchange``, and is reused with it.
final class BodySender {
    private unowned let exchange: Exchange
    private let core: SessionCore
    private let timer: DeadlineTimer
    private var current: Current?
    /// The source of a body that is not in memory, or larger than a piece; nil after its last piece.
    private var bodyFeed: (any BodyFeed)?
    /// Whether ``feed()`` is running.
    private var isInFeed = false
    /// Whether ``feed()`` is scheduled for the next turn of the event loop.
    private var isFeedDue = false

    private struct Current {
        let handle: RequestHandle
        let connection: any HTTPConnection
        /// Whether the feed was asked for a piece that is still pending.
        var isFeeding = false
        /// The number of pieces that the kernel has not accepted yet.
        var pendingPieces = 0
        /// Whether the user has paused the request.
        var isPaused = false
        /// Whether the whole request was sent.
        var isSent = false
        /// Whether the body waits for a 100 (Continue) response.
        var isHeld = false
        /// The progress of the kernel since the write deadline was set.
        var writing = WriteProgress()
    }

    init(_ exchange: Exchange, _ core: SessionCore, _ timer: DeadlineTimer) {
        self.exchange = exchange
        self.core = core
        self.timer = timer
    }

    /// The size in bytes from which a body may exceed the kernel's buffers, so that the write timeout applies.
    private static let largeBodySize = 32_768
    /// The maximum number of bytes that are sent in one turn of the event loop.
    private static let feedTurnSize = 1 << 20
    /// The interval between checks of the write progress.
    ///
    /// The kernel's buffers grow a little after the first bytes, which
    /// must not restart the whole write timeout for a server that reads nothing.
    private static let writeCheckInterval = Duration.seconds(1)

    /// Opens the source of a request's body before the head is sent, unless the body waits for a 100 (Continue) response.
    ///
    /// - Throws: ``HTTPError`` if the body can't be read, or can't be read again.
    func openSource(of handle: RequestHandle) throws(HTTPError) {
        guard handle.canResend else { throw .notReplayable(at: handle.current.endpoint.text) }
        if !handle.current.expectsContinue { try openFeed(handle) }
    }

    /// Sends the body after the head, and ends the request; or holds the body until the 100 (Continue) response.
    func send(
        _ handle: RequestHandle,
        on connection: any HTTPConnection,
        expectsContinue: Bool = false,
        _ now: NIODeadline
    ) {
        if current == nil { current = .init(handle: handle, connection: connection) }
        if expectsContinue { return hold(now) }
        // A response that was received while the head was written has closed the feed.
        if handle.current.source != nil, bodyFeed == nil { return }
        let body = handle.current.body
        if let body, bodyFeed == nil, body.readableBytes > BytesFeed.pieceSize {
            bodyFeed = BufferFeed(body, loop: core.loop)
        }
        guard bodyFeed == nil else {
            timer.deadlines[.firstByte] = nil
            return feed()
        }
        if let body, body.readableBytes > 0 { return sendPiece(body, on: connection, handle, now) }
        connection.send(.end(nil), for: exchange, flushes: true)
        requestWasSent(handle, now)
    }

    /// Sends a body that is one piece, and ends the request.
    private func sendPiece(
        _ body: ByteBuffer,
        on connection: any HTTPConnection,
        _ handle: RequestHandle,
        _ now: NIODeadline
    ) {
        handle.run.metrics.bodyBytesSent = body.readableBytes
        connection.send(.body(.byteBuffer(body)), for: exchange, flushes: false)
        guard body.readableBytes >= Self.largeBodySize else {
            connection.send(.end(nil), for: exchange, flushes: true)
            return requestWasSent(handle, now)
        }
        timer.deadlines[.firstByte] = nil
        connection.send(.end(nil), for: exchange, flushes: true, promise: endPromise(handle))
        startWriteTimeout(now)
    }

    /// Sends no body, and leaves the request open: the bytes of the protocol that it asks for follow (RFC 8441, 5).
    func leaveOpen(_ handle: RequestHandle, on connection: any HTTPConnection, _ now: NIODeadline) {
        current = .init(handle: handle, connection: connection)
        requestWasSent(handle, now)
    }

    /// Stops reading the body: nothing more of it is sent, for example because the server refuses the request (RFC 9112,
    /// 9.3).
    func closeFeed() { bodyFeed.take()?.close() }

    /// Stops sending, even if the body is incomplete.
    func end() {
        closeFeed()
        current = nil
    }

    /// Stops sending until ``resume(_:)``.
    func pause() { current?.isPaused = true }

    /// Ends a pause, and sets the deadlines again; ``feed()`` then sends more.
    func resume(_ now: NIODeadline) {
        guard let current else { return }
        self.current?.isPaused = false
        if current.isHeld, !exchange.hasResponse {
            hold(now)
        } else if !current.isSent {
            // While the feed has no piece ready, the kernel has nothing to accept.
            if current.pendingPieces > 0 || unwrittenBytes > 0 { startWriteTimeout(now) }
        } else if !exchange.hasResponse {
            timer.set(.firstByte, after: current.handle.current.limits.firstByte, from: now)
        }
    }

    /// Whether the body waits for a 100 (Continue) response.
    var isHeld: Bool { current?.isHeld ?? false }

    /// Starts reading the request's body if it is not in memory.
    private func openFeed(_ handle: RequestHandle) throws(HTTPError) {
        guard let source = handle.current.source else { return }
        bodyFeed = try source.makeFeed(core.loop)
        handle.extras.wasBodyRead = true
    }

    /// Holds the body until the 100 (Continue) response, or until ``Timeouts/expectContinue``.
    private func hold(_ now: NIODeadline) {
        current?.isHeld = true
        timer.set(.firstByte, after: current?.handle.current.limits.expectContinue, from: now)
    }

    /// Sends a body that was held.
    func release(_ now: NIODeadline) {
        guard let current, current.isHeld else { return }
        self.current?.isHeld = false
        do throws(HTTPError) {
            try openFeed(current.handle)
        } catch {
            return exchange.fail(.unavailableBody(error, .maybeProcessed))
        }
        send(current.handle, on: current.connection, now)
        timer.schedule(at: now)
    }

    /// Returns a promise for the end of the request, fulfilled when the kernel has accepted all of it.
    private func endPromise(_ handle: RequestHandle) -> EventLoopPromise<Void> {
        let written = core.loop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in
            guard current?.handle === handle else { return }
            timer.deadlines[.write] = nil
            let now = NIODeadline.now()
            requestWasSent(handle, now)
            timer.schedule(at: now)
        }
        return written
    }

    private func requestWasSent(_ handle: RequestHandle, _ now: NIODeadline) {
        current?.isSent = true
        if current != nil, !exchange.hasResponse {
            timer.set(.firstByte, after: handle.current.limits.firstByte, from: now)
        }
        guard core.events.isObserved(handle) else { return }
        if let body = handle.current.body, body.readableBytes <= BytesFeed.pieceSize {
            core.events.tell(.sending(bytes: body.readableBytes, of: Int64(body.readableBytes)), handle)
        }
        core.events.tell(.sent, handle)
    }

    /// Sends the pieces of the feed as long as the kernel accepts them.
    ///
    /// This is a loop rather than a recursion, since a feed may have thousands of small pieces ready.
    func feed() {
        guard !isInFeed, !isFeedDue, let handle = current?.handle else { return }
        isInFeed = true
        defer { isInFeed = false }
        let turnEnd = handle.run.metrics.bodyBytesSent + Self.feedTurnSize
        while let feed = readyFeed, current?.handle === handle {
            guard handle.run.metrics.bodyBytesSent < turnEnd else { return feedLater() }
            current?.isFeeding = true
            feed.next().assumeIsolated().whenComplete { [self] result in receive(result, from: feed) }
        }
    }

    /// The feed if it can be asked for the next piece now; otherwise nil.
    private var readyFeed: (any BodyFeed)? {
        guard let current, !current.isFeeding, !current.isHeld, !current.isPaused,
            current.connection.isWritable(for: exchange)
        else { return nil }
        return bodyFeed
    }

    private func feedLater() {
        guard !isFeedDue else { return }
        isFeedDue = true
        core.loop.assumeIsolated().execute { [self] in
            isFeedDue = false
            feed()
        }
    }

    private func receive(_ result: Result<ByteBuffer?, any Error>, from feed: any BodyFeed) {
        guard bodyFeed === feed else { return }
        defer { self.feed() }
        current?.isFeeding = false
        switch result {
        case .failure(let error): exchange.fail(.unavailableBody(error, .maybeProcessed))
        case .success(let piece?): send(piece)
        case .success(nil): finishFeeding()
        }
    }

    private func send(_ piece: ByteBuffer) {
        guard let handle = current?.handle, piece.readableBytes > 0 else { return }
        handle.run.metrics.bodyBytesSent += piece.readableBytes
        current?.pendingPieces += 1
        let written = core.loop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in pieceWasWritten(of: handle) }
        write(.body(.byteBuffer(piece)), written)
        guard current?.handle === handle else { return }
        if core.events.isObserved(handle) {
            core.events.tell(.sending(bytes: handle.run.metrics.bodyBytesSent, of: handle.current.bodyLength), handle)
        }
        if current?.pendingPieces ?? 0 > 0, timer.deadlines[.write] == nil { startWriteTimeout() }
    }

    /// The number of the request's bytes that the kernel has not accepted yet.
    private var unwrittenBytes: Int { current?.connection.unwrittenBytes(of: exchange) ?? 0 }

    /// Writes a part of the request, and keeps the write progress correct although bytes are added.
    private func write(_ part: HTTPClientRequestPart, _ written: EventLoopPromise<Void>) {
        guard let handle = current?.handle, let connection = current?.connection else { return }
        let isWatched = timer.deadlines[.write] != nil
        let before = isWatched ? unwrittenBytes : 0
        if isWatched { current?.writing.willAdd(to: before) }
        connection.send(part, for: exchange, flushes: true, promise: written)
        guard isWatched, current?.handle === handle else { return }
        let rest = unwrittenBytes
        current?.writing.added(rest: rest)
    }

    /// Records that the kernel has accepted a piece, and restarts the write timeout if others are left.
    private func pieceWasWritten(of handle: RequestHandle) {
        guard current?.handle === handle else { return }
        current?.pendingPieces -= 1
        if current?.pendingPieces == 0 { timer.deadlines[.write] = nil } else { startWriteTimeout() }
    }

    private func finishFeeding() {
        guard let handle = current?.handle else { return }
        closeFeed()
        write(.end(nil), endPromise(handle))
    }

    private func startWriteTimeout() {
        let now = NIODeadline.now()
        startWriteTimeout(now)
        timer.schedule(at: now)
    }

    /// Starts the write timeout.
    private func startWriteTimeout(_ now: NIODeadline) {
        let rest = unwrittenBytes
        current?.writing.begin(rest: rest, at: Instant(now))
        checkWriting(now)
    }

    /// Checks the write progress: fails the attempt if the write timeout has elapsed, otherwise sets the next check.
    func checkWriting(_ now: NIODeadline) {
        let rest = unwrittenBytes
        guard let limit = current?.handle.current.limits.write,
            let last = current?.writing.check(rest: rest, at: Instant(now))
        else { return }
        let end = last.advanced(by: limit)
        guard Instant(now) < end else { return exchange.timedOut(.write, limit) }
        timer.deadlines[.write] = min(end, Instant(now).advanced(by: min(Self.writeCheckInterval, limit / 4)))
    }
}
