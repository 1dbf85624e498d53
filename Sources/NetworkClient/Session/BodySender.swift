import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore

/// Sends the body of one attempt's request, as fast as the connection takes it, and watches that it does.
///
/// Confined to the session's event loop. It belongs to an ``Exchange``, and is used again with it.
final class BodySender {
    private unowned let exchange: Exchange
    private let core: SessionCore
    private let timer: DeadlineTimer
    private var current: Current?
    /// Whether pieces of the body are being asked for.
    private var isInFeed = false
    /// Whether asking goes on when others have had their turn.
    private var isFeedDue = false

    private struct Current {
        let handle: RequestHandle
        let connection: any HTTPConnection
        /// Gives the body, if it is not in memory and not all given.
        var feed: (any BodyFeed)?
        /// Whether the feed was asked and has not answered.
        var isFeeding = false
        /// How many pieces of the body wait for the kernel.
        var piecesUnderWay = 0
        /// Whether the user has paused the request.
        var isPaused = false
        /// Whether the whole request was sent.
        var isSent = false
        /// Whether the head of the response has come.
        var hasResponse = false
        /// Whether the body waits for the server's leave.
        var isHeld = false
        /// Whether the kernel has taken anything since the write deadline was set.
        var writing = WriteProgress()
    }

    init(_ exchange: Exchange, _ core: SessionCore, _ timer: DeadlineTimer) {
        self.exchange = exchange
        self.core = core
        self.timer = timer
    }

    /// How long a server may take to give leave for a body, until it is sent without (RFC 9110, 10.1.1).
    private static let continueTimeout = Duration.seconds(1)
    /// A body from this size on may not fit the kernel's buffers at once.
    private static let largeBodySize = 32_768
    /// How many bytes are sent before others who live on the event loop have their turn.
    private static let feedTurnSize = 1 << 20
    /// How often it is looked whether the kernel takes what is to be written: its buffers grow a little after the first
    /// bytes, which is not to give a server that reads nothing its whole time again.
    private static let writeCheckInterval = Duration.seconds(1)

    /// Takes a request, and opens what its body comes from, unless it waits for the server's leave.
    ///
    /// - Throws: ``HTTPError`` if the body can't be read, or not once more.
    func begin(_ handle: RequestHandle, on connection: any HTTPConnection) throws(HTTPError) {
        current = .init(handle: handle, connection: connection)
        guard handle.current.source != nil else { return }
        guard handle.canGoAgain else { throw .notReplayable(at: handle.current.endpoint.text) }
        if !handle.current.expectsContinue { try openFeed(handle) }
    }

    /// Sends the body after the head, or keeps it until the server gives leave.
    func send(asksFirst: Bool, _ now: NIODeadline) {
        if asksFirst { hold(now) } else { sendBody(now) }
    }

    /// The head of a response came; a server that refuses the request is sent no more of it (RFC 9112, 9.3).
    func responseBegan(isRefusal: Bool) {
        current?.hasResponse = true
        if isRefusal { closeFeed() }
    }

    /// Ends the sending, all sent or not.
    func end() {
        closeFeed()
        current = nil
    }

    /// Sends no more until ``resume(_:)``.
    func pause() { current?.isPaused = true }

    /// Goes on where it was paused, with whole deadlines; then ``feed()`` sends more.
    func resume(_ now: NIODeadline) {
        guard let current else { return }
        self.current?.isPaused = false
        if current.isHeld, !current.hasResponse {
            hold(now)
        } else if !current.isSent {
            // What gives the body may rest: then there is nothing that the kernel could take.
            if current.piecesUnderWay > 0 || current.connection.unwrittenBytes > 0 { watchWriting(now) }
        } else if !current.hasResponse {
            timer.set(.firstByte, after: current.handle.current.limits.firstByte, from: now)
        }
    }

    /// Whether the body waits for the server's leave.
    var isHeld: Bool { current?.isHeld ?? false }

    /// Begins to read the request's body, if it is not in memory.
    private func openFeed(_ handle: RequestHandle) throws(HTTPError) {
        guard let source = handle.current.source else { return }
        current?.feed = try source.makeFeed(core.loop)
        handle.extras.wasBodyRead = true
    }

    /// Keeps the body until the server gives leave, or has said nothing for long enough.
    private func hold(_ now: NIODeadline) {
        current?.isHeld = true
        timer.set(.firstByte, after: Self.continueTimeout, from: now)
    }

    /// Sends the body, now that the server wants it or has said nothing for long enough.
    func release(_ now: NIODeadline) {
        guard let current, current.isHeld else { return }
        self.current?.isHeld = false
        do throws(HTTPError) {
            try openFeed(current.handle)
        } catch {
            return exchange.fail(.unavailableBody(error, .maybeProcessed))
        }
        sendBody(now)
        timer.schedule(at: now)
    }

    private func sendBody(_ now: NIODeadline) {
        guard let handle = current?.handle, let connection = current?.connection else { return }
        guard current?.feed == nil else {
            timer.deadlines[.firstByte] = nil
            return feed()
        }
        guard let body = handle.current.body, body.readableBytes > 0 else {
            connection.send(.end(nil), for: exchange, flushes: true)
            return requestWasSent(handle, now)
        }
        handle.run.metrics.bodyBytesSent = body.readableBytes
        connection.send(.body(.byteBuffer(body)), for: exchange, flushes: false)
        guard body.readableBytes >= Self.largeBodySize else {
            connection.send(.end(nil), for: exchange, flushes: true)
            return requestWasSent(handle, now)
        }
        timer.deadlines[.firstByte] = nil
        connection.send(.end(nil), for: exchange, flushes: true, promise: endPromise(handle))
        watchWriting(now)
    }

    /// A promise that is fulfilled when the kernel has taken the whole request.
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
        if current?.hasResponse == false { timer.set(.firstByte, after: handle.current.limits.firstByte, from: now) }
        guard core.isObserved(handle) else { return }
        if let body = handle.current.body {
            core.tell(.sending(bytes: body.readableBytes, of: Int64(body.readableBytes)), handle)
        }
        core.tell(.sent, handle)
    }

    /// Sends what the feed gives, as long as the kernel takes it.
    ///
    /// In a loop and not by recursion, since a feed may have thousands of small pieces ready.
    func feed() {
        guard !isInFeed, !isFeedDue, let handle = current?.handle else { return }
        isInFeed = true
        defer { isInFeed = false }
        let turnEnd = handle.run.metrics.bodyBytesSent + Self.feedTurnSize
        while let feed = feedToAsk, current?.handle === handle {
            guard handle.run.metrics.bodyBytesSent < turnEnd else { return feedLater() }
            current?.isFeeding = true
            feed.next().assumeIsolated().whenComplete { [self] result in receive(result, from: feed) }
        }
    }

    /// The feed, if it can be asked for the next piece now.
    private var feedToAsk: (any BodyFeed)? {
        guard let current, !current.isFeeding, !current.isHeld, !current.isPaused, current.connection.isWritable
        else { return nil }
        return current.feed
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
        guard current?.feed === feed else { return }
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
        current?.piecesUnderWay += 1
        let written = core.loop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in pieceWasWritten(of: handle) }
        write(.body(.byteBuffer(piece)), written)
        guard current?.handle === handle else { return }
        if core.isObserved(handle) {
            core.tell(.sending(bytes: handle.run.metrics.bodyBytesSent, of: handle.current.source?.length), handle)
        }
        if current?.piecesUnderWay ?? 0 > 0, timer.deadlines[.write] == nil { watchWriting() }
    }

    /// Writes more of the body, which is not to hide what the kernel takes of what waits already.
    private func write(_ part: HTTPClientRequestPart, _ written: EventLoopPromise<Void>) {
        guard let handle = current?.handle, let connection = current?.connection else { return }
        let isWatched = timer.deadlines[.write] != nil
        if isWatched { current?.writing.willAdd(to: connection.unwrittenBytes) }
        connection.send(part, for: exchange, flushes: true, promise: written)
        if isWatched, current?.handle === handle { current?.writing.added(rest: connection.unwrittenBytes) }
    }

    /// The kernel has taken a piece: as long as others wait, it has to take some of them in time.
    private func pieceWasWritten(of handle: RequestHandle) {
        guard current?.handle === handle else { return }
        current?.piecesUnderWay -= 1
        if current?.piecesUnderWay == 0 { timer.deadlines[.write] = nil } else { watchWriting() }
    }

    private func finishFeeding() {
        guard let handle = current?.handle else { return }
        closeFeed()
        write(.end(nil), endPromise(handle))
    }

    /// Ends the reading of the request's body, all sent or not.
    private func closeFeed() {
        guard let feed = current?.feed else { return }
        current?.feed = nil
        feed.close()
    }

    private func watchWriting() {
        let now = NIODeadline.now()
        watchWriting(now)
        timer.schedule(at: now)
    }

    /// Begins to watch whether the kernel takes some of what is to be written in time.
    private func watchWriting(_ now: NIODeadline) {
        guard let connection = current?.connection else { return }
        current?.writing.begin(rest: connection.unwrittenBytes, at: Instant(now))
        checkWriting(now)
    }

    /// Looks whether the kernel has taken some of what is to be written in time.
    func checkWriting(_ now: NIODeadline) {
        guard let connection = current?.connection, let limit = current?.handle.current.limits.write,
            let last = current?.writing.check(rest: connection.unwrittenBytes, at: Instant(now))
        else { return }
        let end = last.advanced(by: limit)
        guard Instant(now) < end else { return exchange.timedOut(.write, limit) }
        timer.deadlines[.write] = min(end, Instant(now).advanced(by: min(Self.writeCheckInterval, limit / 4)))
    }
}
