import NIOCore
import NIOHTTP1
import ReachabilityCore

extension ConnectionHandler {
    func received(_ head: HTTPResponseHead) {
        guard let handle = exchange?.handle else { return close() }
        let status = head.status.code
        if (100...199).contains(status), status != 101 {
            if status == 100 { releaseBody(.now()) }
            return
        }
        guard status != 101, life.answered(keepsAlive: keepsAlive(after: head, handle)) else {
            return failExchange(.init(.invalidResponse, .answered, "the server answered what was not asked"))
        }
        let now = NIODeadline.now()
        handle.run.life.answered()
        handle.run.metrics.answered = now
        exchange?.head = head
        deadlines[.firstByte] = nil
        deadlines[.read] = due(handle.current.limits.read, now)
        arm(now)
        if handle.run.scheduled != nil { host.core.dispatcher.sawHead(handle, .init(head)) }
        if host.core.isObserved(handle) { host.core.tell(.head(.init(head)), handle) }
        do throws(HTTPError) {
            // Who is refused does not go on sending (RFC 9112, 9.3).
            if status >= 300 { closeFeed() }
            try expectBody(of: head, handle)
            if exchange?.handle === handle, hasShortGrace { watchReading(now) }
        } catch {
            failExchange(error)
        }
    }

    private func expectBody(of head: HTTPResponseHead, _ handle: RequestHandle) throws(HTTPError) {
        let isPassedOver = head.status.code >= 300 && passesOver(head, handle)
        exchange?.isLikelyFollowed = head.status.code >= 400 && host.core.isLikelyFollowed(head, handle)
        if !isPassedOver, let receiver = handle.run.extras?.receiver { try begin(head, receiver, handle) }
        // They may tell of a body all the same (RFC 9110, 8.6).
        guard handle.current.head.method != .HEAD, !head.hasNoBody else { return }
        let decompresses = host.core.configuration.decompresses && exchange?.isPassedOver == false
        try exchange?.assembly.expect(head, decompresses: decompresses)
    }

    func received(_ bytes: ByteBuffer) {
        guard let handle = exchange?.handle else { return close() }
        handle.run.metrics.bodyBytesReceived += bytes.readableBytes
        lastByte = .now()
        // A body that is nobody's has one time for all of it.
        if exchange?.isPassedOver != true { deadlines[.read] = due(readLimit, lastByte) }
        do throws(HTTPError) {
            if exchange?.receiver == nil { try exchange?.assembly.append(bytes) } else { try handOn(bytes) }
        } catch {
            return failExchange(error)
        }
        guard host.core.isObserved(handle) else { return }
        if let progress = exchange?.receiver?.progress {
            host.core.tell(.received(bytes: Int(progress.bytes), of: progress.total.map { Int($0) }), handle)
        } else {
            let count = handle.run.metrics.bodyBytesReceived
            host.core.tell(.received(bytes: count, of: exchange?.assembly.announced), handle)
        }
    }

    func receivedEnd() {
        guard var finished = exchange, let head = finished.head else { return close() }
        let body: ByteBuffer
        do throws(HTTPError) {
            body = try finished.assembly.finish()
        } catch {
            return failExchange(error)
        }
        let handle = finished.handle
        let now = NIODeadline.now()
        handle.run.metrics.end = now
        closeFeed()
        exchange = nil
        let response = DataResponse(
            http1: head,
            buffer: body,
            metrics: handle.run.metrics,
            address: handle.current.url
        )
        deadlines.clear()
        answerHasEnded = true
        if let receiver = finished.receiver {
            letReadingGo()
            host.core.keep(handle, receiver, response)
        } else {
            host.core.answered(handle, response)
        }
    }

    /// Lets the connection serve the next request, once it is seen that nothing followed the answer.
    ///
    /// What came with its last bytes was not asked for; the next request would take it for its own answer.
    func settle() {
        guard answerHasEnded, !life.isClosed else { return }
        answerHasEnded = false
        switch life.ended() {
        case .reuse:
            host.released(self)
            rest()
        case .close: closeAfterAnswer()
        }
    }

    /// The server has said that it closes the connection, or there is more of the request than it wanted.
    private func closeAfterAnswer() {
        timer?.cancel()
        timer = nil
        shut(inOrder: true)
        host.closed(self, whileBusy: true)
    }

    /// Sets the moment at which the connection, if nobody uses it, is closed.
    func rest() {
        guard !life.isBusy, !life.isClosed else { return }
        guard !host.core.isClosing else { return close() }
        let now = NIODeadline.now()
        deadlines[.idle] = due(host.core.configuration.idleTimeout, now)
        arm(now)
    }
}
