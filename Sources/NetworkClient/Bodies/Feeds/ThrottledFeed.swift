import NIOCore

/// Gives what another feed gives, in small packets with pauses between them.
///
/// Unchecked, because it is touched on its event loop only.
final class ThrottledFeed: BodyFeed, @unchecked Sendable {
    private let feed: any BodyFeed
    private let throttle: Throttle
    private let loop: any EventLoop
    private var rest = ByteBuffer()
    private var due: NIODeadline?
    private var pause: Scheduled<Void>?
    private var waiting: EventLoopPromise<ByteBuffer?>?

    init(_ feed: any BodyFeed, _ throttle: Throttle, loop: any EventLoop) {
        self.feed = feed
        self.throttle = throttle
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        guard let due, due > .now() else { return packet() }
        let promise = loop.makePromise(of: ByteBuffer?.self)
        waiting = promise
        pause = loop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            waiting = nil
            packet().cascade(to: promise)
        }
        return promise.futureResult
    }

    func close() {
        pause?.cancel()
        feed.close()
        waiting?.fail(CancellationError())
        waiting = nil
    }

    private func packet() -> EventLoopFuture<ByteBuffer?> {
        guard rest.readableBytes == 0 else { return loop.makeSucceededFuture(cut()) }
        return feed.next().assumeIsolated().map { [self] piece in
            guard let piece else { return nil }
            rest = piece
            return cut()
        }
        .nonisolated()
    }

    private func cut() -> ByteBuffer? {
        due = .now() + .init(throttle.delay)
        return rest.readSlice(length: min(rest.readableBytes, throttle.packetSize))
    }
}
