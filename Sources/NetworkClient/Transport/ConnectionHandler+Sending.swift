import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore

extension ConnectionHandler {
    /// How long a server may take to give leave for a body, until it is sent without (RFC 9110, 10.1.1).
    private static let continueWait = Duration.seconds(1)
    /// A body from this size on may not fit the kernel's buffers at once.
    private static let largeBody = 32_768

    /// Sends a request, unless it is wanted no more.
    func send(_ handle: RequestHandle) {
        guard let context, life.begin() else { return host.sendElsewhere(handle) }
        guard handle.run.life.assigned(isReused: life.isReused) else { return giveBack() }
        let now = NIODeadline.now()
        handle.run.place = .connection(self)
        handle.noteState()
        lastByte = now
        handle.run.timer?.cancel()
        handle.run.timer = nil
        handle.run.metrics.assigned = now
        handle.run.metrics.connection = record
        handle.run.metrics.isReused = life.isReused
        handle.run.metrics.attempts = handle.run.life.attempts
        if host.core.isObserved(handle) { tellOfAttempt(handle) }
        exchange = .init(handle: handle, assembly: .init(limit: handle.current.maximumBodySize))
        guard prepareBodies(handle) else { return }
        context.write(wrapOutboundOut(.head(addressed(head(of: handle), handle))), promise: nil)
        handle.run.life.sent()
        deadlines[.total] = handle.deadline.map(Instant.init)
        deadlines[.idle] = nil
        if handle.current.expectsContinue, handle.current.hasBody {
            holdBody(now)
            context.flush()
        } else {
            sendBody(context, now)
        }
        arm(now)
    }

    private func tellOfAttempt(_ handle: RequestHandle) {
        let attempt = handle.run.life.attempts
        let connection = record?.metrics ?? .init()
        host.core.tell(.attempt(attempt, isReused: life.isReused, connection: connection), handle)
    }

    /// The request ended before it was sent: the connection serves the next.
    func giveBack() {
        life.requestSent()
        _ = life.answered(keepsAlive: true)
        _ = life.ended()
        host.released(self)
    }

    /// Keeps the body until the server gives leave, or has said nothing for long enough.
    func holdBody(_ now: NIODeadline) {
        exchange?.isBodyHeld = true
        deadlines[.firstByte] = Instant(now).advanced(by: Self.continueWait)
    }

    /// Sends the body, now that the server wants it or has said nothing for long enough.
    func releaseBody(_ now: NIODeadline) {
        guard let context, let exchange, exchange.isBodyHeld else { return }
        self.exchange?.isBodyHeld = false
        do throws(HTTPError) {
            try openFeed(exchange.handle)
        } catch {
            return failExchange(.unavailableBody(error, .maybeProcessed))
        }
        sendBody(context, now)
        arm(now)
    }

    private func sendBody(_ context: ChannelHandlerContext, _ now: NIODeadline) {
        guard let handle = exchange?.handle else { return }
        guard exchange?.feed == nil else {
            deadlines[.firstByte] = nil
            return feed()
        }
        guard let body = handle.current.body, body.readableBytes > 0 else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return wasSent(handle, now)
        }
        handle.run.metrics.bodyBytesSent = body.readableBytes
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        guard body.readableBytes >= Self.largeBody else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return wasSent(handle, now)
        }
        deadlines[.firstByte] = nil
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in
            guard exchange?.handle === handle else { return }
            deadlines[.write] = nil
            let now = NIODeadline.now()
            wasSent(handle, now)
            arm(now)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        watchWriting(now)
    }

    func wasSent(_ handle: RequestHandle, _ now: NIODeadline) {
        life.requestSent()
        if exchange?.head == nil { deadlines[.firstByte] = due(handle.current.limits.firstByte, now) }
        guard host.core.isObserved(handle) else { return }
        if let body = handle.current.body {
            host.core.tell(.sending(bytes: body.readableBytes, of: Int64(body.readableBytes)), handle)
        }
        host.core.tell(.sent, handle)
    }

    /// How often it is looked whether the kernel takes what is to be written: its buffers grow a little after the first
    /// bytes, which is not to give a server that reads nothing its whole time again.
    private static let writeCheckInterval = Duration.seconds(1)

    /// Begins to watch whether the kernel takes some of what is to be written in time.
    func watchWriting(_ now: NIODeadline) {
        exchange?.writing.begin(rest: unwritten, at: Instant(now))
        checkWriting(now)
    }

    /// Looks whether the kernel has taken some of what is to be written in time.
    func checkWriting(_ now: NIODeadline) {
        guard let limit = exchange?.handle.current.limits.write,
            let last = exchange?.writing.check(rest: unwritten, at: Instant(now))
        else { return }
        let end = last.advanced(by: limit)
        guard Instant(now) < end else { return failWriting() }
        deadlines[.write] = min(end, Instant(now).advanced(by: min(Self.writeCheckInterval, limit / 4)))
    }

    /// How many bytes wait for the kernel.
    var unwritten: Int { (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    func due(_ limit: Duration?, _ now: NIODeadline) -> Instant? { limit.map { Instant(now).advanced(by: $0) } }
}

extension Instant {
    init(_ deadline: NIODeadline) {
        self.init(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    }
}
