import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Sending bodies that are not in memory.
extension ConnectionHandler {
    /// Opens what the request's body comes from, but for one that waits for the server's leave.
    ///
    /// - Returns: Whether the request can be sent; if not, it has failed and the connection serves the next.
    func prepareBodies(_ handle: RequestHandle) -> Bool {
        exchange?.receiver = nil
        guard handle.current.source != nil else { return true }
        do throws(HTTPError) {
            guard handle.canGoAgain else { throw .notReplayable(handle.current.copy) }
            if !handle.current.expectsContinue { try openFeed(handle) }
            return true
        } catch {
            handle.run.place = .nowhere
            exchange = nil
            giveBack()
            host.core.fail(handle, .unavailableBody(error, .neverSent))
            return false
        }
    }

    /// Begins to read the request's body, if it is not in memory.
    func openFeed(_ handle: RequestHandle) throws(HTTPError) {
        guard let source = handle.current.source else { return }
        exchange?.feed = try source.makeFeed(host.core.loop)
        handle.extras.wasBodyRead = true
    }

    /// The head as it goes out in this attempt.
    func head(of handle: RequestHandle) -> HTTPRequestHead {
        let receiver = handle.run.extras?.receiver
        let login = handle.current.login
        guard receiver != nil || login != nil else { return handle.current.head }
        var head = handle.current.head
        receiver?.willSend(&head)
        if let login { host.core.authenticator.willSend(&head, handle, login) }
        return head
    }

    /// How many bytes are sent before others who live on the event loop have their turn.
    private static let turn = 1 << 20

    /// Sends what the feed gives, as long as the kernel takes it.
    ///
    /// In a loop and not by recursion, since a feed may have thousands of small pieces ready.
    func feed() {
        guard !isInFeed, !isFeedDue, let handle = exchange?.handle else { return }
        isInFeed = true
        defer { isInFeed = false }
        let turnEnd = handle.run.metrics.bodyBytesSent + Self.turn
        while let feed = feedToAsk, exchange?.handle === handle {
            guard handle.run.metrics.bodyBytesSent < turnEnd else { return feedLater() }
            exchange?.isFeeding = true
            feed.next().assumeIsolated().whenComplete { [self] result in given(result, by: feed) }
        }
    }

    /// What can be asked for the next piece; nil as long as nothing can, or the connection takes no more.
    private var feedToAsk: (any BodyFeed)? {
        guard let exchange, !exchange.isFeeding, !exchange.isBodyHeld, !exchange.isPaused,
            context?.channel.isWritable == true
        else { return nil }
        return exchange.feed
    }

    private func feedLater() {
        guard !isFeedDue else { return }
        isFeedDue = true
        context?.eventLoop.assumeIsolated().execute { [self] in
            isFeedDue = false
            feed()
        }
    }

    private func given(_ result: Result<ByteBuffer?, any Error>, by feed: any BodyFeed) {
        guard exchange?.feed === feed else { return }
        defer { self.feed() }
        exchange?.isFeeding = false
        switch result {
        case .failure(let error): failExchange(.unavailableBody(error, .maybeProcessed))
        case .success(let piece?): send(piece)
        case .success(nil): finishFeeding()
        }
    }

    private func send(_ piece: ByteBuffer) {
        guard let context, let handle = exchange?.handle, piece.readableBytes > 0 else { return }
        handle.run.metrics.bodyBytesSent += piece.readableBytes
        exchange?.piecesUnderWay += 1
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in pieceWasWritten(of: handle) }
        write(.body(.byteBuffer(piece)), context, written)
        guard exchange?.handle === handle else { return }
        tellOfSending(handle)
        if exchange?.piecesUnderWay ?? 0 > 0, deadlines[.write] == nil { watchWriting() }
    }

    /// Writes more of the body, which is not to hide what the kernel takes of what waits already.
    private func write(
        _ part: HTTPClientRequestPart,
        _ context: ChannelHandlerContext,
        _ written: EventLoopPromise<Void>
    ) {
        let handle = exchange?.handle
        let isWatched = deadlines[.write] != nil
        if isWatched { exchange?.writing.willAdd(to: unwritten) }
        context.writeAndFlush(wrapOutboundOut(part), promise: written)
        if isWatched, exchange?.handle === handle { exchange?.writing.added(rest: unwritten) }
    }

    private func tellOfSending(_ handle: RequestHandle) {
        guard host.core.isObserved(handle) else { return }
        host.core.tell(.sending(bytes: handle.run.metrics.bodyBytesSent, of: handle.current.source?.length), handle)
    }

    /// The kernel has taken a piece: as long as others wait, it has to take some of them in time.
    private func pieceWasWritten(of handle: RequestHandle) {
        guard exchange?.handle === handle else { return }
        exchange?.piecesUnderWay -= 1
        if exchange?.piecesUnderWay == 0 { deadlines[.write] = nil } else { watchWriting() }
    }

    private func watchWriting() {
        let now = NIODeadline.now()
        watchWriting(now)
        arm(now)
    }

    private func finishFeeding() {
        guard let context, let handle = exchange?.handle else { return }
        closeFeed()
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in
            guard exchange?.handle === handle else { return }
            deadlines[.write] = nil
            let now = NIODeadline.now()
            wasSent(handle, now)
            arm(now)
        }
        write(.end(nil), context, written)
    }

    /// Ends the reading of the request's body, all sent or not.
    func closeFeed() {
        guard let feed = exchange?.feed else { return }
        exchange?.feed = nil
        feed.close()
    }

    /// Forgets the exchange: who gives and takes its bodies is told that it is over.
    func dropExchange() {
        guard let dropped = exchange else { return }
        exchange = nil
        isHolding = false
        held = .init()
        dropped.feed?.close()
        dropped.receiver?.abandon()
    }
}
