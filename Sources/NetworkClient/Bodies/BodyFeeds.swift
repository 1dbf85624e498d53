import NIOCore
import NIOPosix

/// Gives bytes that are in memory, in pieces, so that the whole is never copied at once.
final class BytesFeed: BodyFeed {
    private static let pieceSize = 262_144

    private let bytes: [UInt8]
    private let loop: any EventLoop
    private var start = 0

    init(_ bytes: [UInt8], loop: any EventLoop) {
        self.bytes = bytes
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        guard start < bytes.count else { return loop.makeSucceededFuture(nil) }
        let end = min(bytes.count, start + Self.pieceSize)
        defer { start = end }
        return loop.makeSucceededFuture(ByteBuffer(bytes: bytes[start..<end]))
    }

    func close() {}
}

/// Gives a file, with one piece read ahead; see ``FileReader``.
///
/// Unchecked, because it is touched on its event loop only.
final class FileFeed: BodyFeed, @unchecked Sendable {
    private let loop: any EventLoop
    private var reader: FileReader?
    private var ahead: EventLoopFuture<ByteBuffer?>?

    /// Opens nothing until it is asked.
    init(_ path: String, length: Int64, loop: any EventLoop) {
        self.loop = loop
        reader = FileReader(path, length: length)
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        let piece = ahead ?? read()
        ahead = nil
        piece.assumeIsolated().whenSuccess { [self] piece in
            // The caller is told after this: the reading goes on while it sends.
            if piece != nil, reader != nil { ahead = read() }
        }
        return piece
    }

    func close() {
        // The descriptor goes with the reader, which a read that is under way still holds.
        reader = nil
        ahead = nil
    }

    private func read() -> EventLoopFuture<ByteBuffer?> {
        guard let reader else { return loop.makeSucceededFuture(nil) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try reader.read() }
    }
}

/// Gives what several feeds give, one after another; each is opened when the one before has ended.
///
/// Unchecked, because it is touched on its event loop only.
final class ConcatenatedFeed: BodyFeed, @unchecked Sendable {
    typealias Opening = @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed

    private let loop: any EventLoop
    private var openings: ArraySlice<Opening>
    private var feed: (any BodyFeed)?

    init(_ openings: [Opening], loop: any EventLoop) {
        self.openings = openings[...]
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        do throws(HTTPError) {
            if feed == nil { try open() }
            guard let feed else { return loop.makeSucceededFuture(nil) }
            return feed.next().assumeIsolated().flatMap { [self] piece in
                guard piece == nil else { return loop.makeSucceededFuture(piece) }
                closeFeed()
                return next()
            }
            .nonisolated()
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func close() {
        openings = []
        closeFeed()
    }

    private func open() throws(HTTPError) {
        guard let open = openings.popFirst() else { return }
        feed = try open(loop)
    }

    private func closeFeed() {
        feed?.close()
        feed = nil
    }
}

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

/// How fast a body is sent at most: packets with pauses between them.
public struct Throttle: Sendable, Hashable {
    /// How many bytes are sent at once.
    public let packetSize: Int
    /// How long the pause after each packet is.
    public let delay: Duration

    /// Makes a throttle; of packets smaller than a byte and of negative pauses it makes the smallest that there are.
    ///
    /// - Parameters:
    ///   - packetSize: How many bytes are sent at once; 16 KiB, unless told otherwise.
    ///   - delay: How long the pause after each is. With 200 ms, the default, 80 KiB go in a second, which lets other
    ///     requests through a mobile link that is slow.
    public init(packetSize: Int = 16_384, delay: Duration = .milliseconds(200)) {
        self.packetSize = max(1, packetSize)
        self.delay = max(.zero, delay)
    }
}
