import NIOCore
import NIOPosix

/// Provides bytes from memory, in pieces, so that the whole body is never copied in one step.
final class BytesFeed: BodyFeed {
    /// The maximum number of bytes of a piece.
    static let pieceSize = 262_144

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

/// Provides the parts of a buffer, without copying them, so that the progress of a large body can be reported.
final class BufferFeed: BodyFeed {
    private var rest: ByteBuffer
    private let loop: any EventLoop

    init(_ buffer: ByteBuffer, loop: any EventLoop) {
        rest = buffer
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        guard rest.readableBytes > 0 else { return loop.makeSucceededFuture(nil) }
        return loop.makeSucceededFuture(rest.readSlice(length: min(rest.readableBytes, BytesFeed.pieceSize)))
    }

    func close() {}
}

/// Provides the contents of a file, with the pieces of one read ahead; see ``FileReader``.
///
/// Unchecked, because it is used on its event loop only.
final class FileFeed: BodyFeed, @unchecked Sendable {
    private let loop: any EventLoop
    private var reader: FileReader?
    /// The pieces that were read and not yet provided.
    private var pieces: ArraySlice<ByteBuffer> = []
    private var ahead: EventLoopFuture<[ByteBuffer]>?
    /// The promise of a piece that is being read.
    private var waiting: EventLoopPromise<ByteBuffer?>?

    /// Opens nothing until the first piece is requested.
    init(_ path: String, length: Int64, loop: any EventLoop) {
        self.loop = loop
        reader = FileReader(path, length: length)
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        if let piece = pieces.popFirst() { return loop.makeSucceededFuture(piece) }
        let promise = loop.makePromise(of: ByteBuffer?.self)
        waiting = promise
        let read = ahead ?? read()
        ahead = nil
        read.assumeIsolated().whenComplete { [self] in deliver($0) }
        return promise.futureResult
    }

    /// Provides the first of the pieces that were read; the next read proceeds while the caller sends them.
    private func deliver(_ read: Result<[ByteBuffer], any Error>) {
        guard let promise = waiting.take() else { return }
        if case .success(let read) = read, !read.isEmpty {
            pieces = read[...]
            ahead = self.read()
        }
        promise.completeWith(read.map { [self] _ in pieces.popFirst() })
    }

    func close() {
        // The descriptor is closed with the reader, which a read in progress still retains.
        reader = nil
        pieces = []
        ahead = nil
        waiting.take()?.fail(CancellationError())
    }

    private func read() -> EventLoopFuture<[ByteBuffer]> {
        guard let reader else { return loop.makeSucceededFuture([]) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try reader.read() }
    }
}

/// Provides the pieces of several feeds, one after another; each is opened when the previous one has ended.
///
/// Unchecked, because it is used on its event loop only.
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

/// Provides the pieces of another feed in packets with pauses between them.
///
/// A packet that is larger than the pieces is provided in several parts.
///
/// Unchecked, because it is used on its event loop only.
final class ThrottledFeed: BodyFeed, @unchecked Sendable {
    private let feed: any BodyFeed
    private let throttle: Throttle
    private let loop: any EventLoop
    private var rest = ByteBuffer()
    /// The number of bytes that the current packet may still have.
    private var room: Int
    private var due: NIODeadline?
    private var pause: Scheduled<Void>?
    private var waiting: EventLoopPromise<ByteBuffer?>?

    init(_ feed: any BodyFeed, _ throttle: Throttle, loop: any EventLoop) {
        self.feed = feed
        self.throttle = throttle
        self.loop = loop
        room = throttle.packetSize
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
        let count = min(rest.readableBytes, room)
        room -= count
        if room == 0 {
            room = throttle.packetSize
            due = .now() + .init(throttle.delay)
        }
        return rest.readSlice(length: count)
    }
}

/// A limit on the rate at which a body is sent: packets with pauses between them.
public struct Throttle: Sendable, Hashable {
    /// The maximum number of bytes in a packet.
    public let packetSize: Int
    /// The pause after each packet.
    public let delay: Duration

    /// Makes a throttle.
    ///
    /// A packet size below 1 and a negative delay are replaced by 1 and 0.
    ///
    /// - Parameters:
    ///   - packetSize: The maximum number of bytes in a packet; 16 KiB by default.
    ///   - delay: The pause after each packet. The default of 200 ms limits the rate to 80 KiB per second, which leaves
    ///     room for other requests on a slow mobile link.
    public init(packetSize: Int = 16_384, delay: Duration = .milliseconds(200)) {
        self.packetSize = max(1, packetSize)
        self.delay = max(.zero, delay)
    }
}
