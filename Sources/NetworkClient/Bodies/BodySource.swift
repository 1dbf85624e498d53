import HTTPSerialization
import NIOCore
import Synchronization

/// A request body that is not in memory, and how to read it.
struct BodySource: Sendable {
    typealias Check = @Sendable () throws(HTTPError) -> Void

    /// The length in bytes; nil if it is not known beforehand: the body is then sent in chunks (RFC 9112, 7.1).
    let length: Int64?
    /// Whether more than one read of a file may be necessary.
    var isLong: Bool { length.map { $0 > Int64(FileReader.readSize) } ?? true }
    /// Whether it can be read more than once.
    let isReplayable: Bool
    /// Verifies before each attempt, on a thread that may block, that the body can still be sent; nil if there is
    /// nothing to verify.
    let check: Check?
    /// Starts reading the body from its beginning; called on the event loop that the feed is confined to.
    let makeFeed: @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed

    init(
        length: Int64?,
        isReplayable: Bool,
        check: Check? = nil,
        makeFeed: @escaping @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed
    ) {
        self.length = length
        self.isReplayable = isReplayable
        self.check = check
        self.makeFeed = makeFeed
    }
}

/// Provides a body piece by piece to one attempt; confined to the event loop that it was made for.
protocol BodyFeed: AnyObject {
    /// Returns the next piece; nil at the end.
    ///
    /// Called only once the previous piece was delivered and the connection is writable. The future fails with an
    /// ``HTTPError``, or with an error that becomes the cause of one.
    func next() -> EventLoopFuture<ByteBuffer?>

    /// Stops reading: nothing more will be requested, and what was requested fails. Called at the end, also after the
    /// last piece; further calls have no effect.
    func close()
}

extension BodySource {
    /// A file.
    ///
    /// It is checked now, and again at the beginning of each attempt, before anything is sent.
    static func file(_ path: String) throws(HTTPError) -> Self {
        let length = try SentFile(at: path).length
        let look: Check = { () throws(HTTPError) in try check(path, length) }
        return .init(length: length, isReplayable: true, check: look) { loop in
            FileFeed(path, length: length, loop: loop)
        }
    }

    /// A sequence that is created for each attempt.
    static func replayable(length: Int64?, _ read: @escaping SequenceFeed.Reading) -> Self {
        .init(length: length, isReplayable: true) { loop in SequenceFeed(length: length, loop: loop, read) }
    }

    /// A sequence that is read once; a second attempt to read it fails.
    static func once(length: Int64?, _ read: @escaping SequenceFeed.Reading) -> Self {
        let use = SingleUse()
        return .init(length: length, isReplayable: false) { loop throws(HTTPError) in
            try use.begin()
            return SequenceFeed(length: length, loop: loop, read)
        }
    }

    /// A form, whose files are opened one after another while it is sent.
    ///
    /// - Parameters:
    ///   - body: The form.
    ///   - isReplayable: Whether it can be read more than once.
    ///   - use: If it can be read only once: the single use that all requests with this form share.
    /// - Returns: The source.
    /// - Throws: `bodyUnavailable` if a file can't be sent.
    static func form(
        _ body: MultipartBody,
        isReplayable: Bool,
        use: SingleUse = .init()
    ) throws(HTTPError) -> Self {
        var files: [(path: String, length: Int64)] = []
        let length = try body.length { path throws(HTTPError) in
            let length = try SentFile(at: path).length
            files.append((path, length))
            return length
        }
        let openings = openings(of: body, files.map(\.length))
        let look: Check = { [files] () throws(HTTPError) in
            for file in files { try check(file.path, file.length) }
        }
        return .init(
            length: length,
            isReplayable: isReplayable,
            check: files.isEmpty ? nil : look
        ) { loop throws(HTTPError) in
            if !isReplayable { try use.begin() }
            return ConcatenatedFeed(openings, loop: loop)
        }
    }

    /// This source, sent no faster than the throttle allows.
    func throttled(_ throttle: Throttle) -> Self {
        .init(length: length, isReplayable: isReplayable, check: check) { [makeFeed] loop throws(HTTPError) in
            ThrottledFeed(try makeFeed(loop), throttle, loop: loop)
        }
    }

    /// Bytes in memory.
    static func bytes(_ bytes: [UInt8]) -> Self {
        .init(length: Int64(bytes.count), isReplayable: true) { loop in BytesFeed(bytes, loop: loop) }
    }

    private static func openings(of body: MultipartBody, _ lengths: [Int64]) -> [ConcatenatedFeed.Opening] {
        var lengths = lengths[...]
        return body.pieces.map { piece in
            switch piece {
            case .bytes(let bytes): { loop in BytesFeed(bytes, loop: loop) }
            case .file(let path):
                { [length = lengths.popFirst() ?? 0] loop in FileFeed(path, length: length, loop: loop) }
            case .stream(let stream):
                { loop in
                    SequenceFeed(length: stream.length, loop: loop) { demands, give in
                        try await SequenceFeed.read(stream.make(), { ByteBuffer(bytes: $0) }, demands, give)
                    }
                }
            }
        }
    }

    private static func check(_ path: String, _ length: Int64) throws(HTTPError) {
        let now = try SentFile(at: path).length
        guard now == length else { throw .changedFile(path, length, "it has \(now) now") }
    }
}

/// Ensures that a body which can be read only once is read once, whichever requests have it.
final class SingleUse: Sendable {
    private let isUsed = Atomic(false)

    func begin() throws(HTTPError) {
        guard !isUsed.exchange(true, ordering: .relaxed) else {
            let reason = "the request's body can be read only once, and was: give it as bytes, a file or a factory"
            throw .init(.bodyNotReplayable, processing: .neverSent, reason: reason)
        }
    }
}

extension BodySource {
    /// Reads the whole body in order, piece by piece.
    ///
    /// - Parameters:
    ///   - loop: The event loop that the feed is confined to.
    ///   - body: Receives a piece; the next one is requested when it returns.
    /// - Throws: The errors of the feed and of `body`; ``HTTPError/Code/cancelled`` if the task is cancelled.
    func read(on loop: any EventLoop, _ body: (ByteBuffer) async throws -> Void) async throws {
        let feed = try await loop.submit { NIOLoopBound(try makeFeed(loop), eventLoop: loop) }.get()
        defer { loop.execute { feed.value.close() } }
        while let piece = try await next(of: feed, on: loop) { try await body(piece) }
    }

    /// Returns the next piece; a feed that has none yet is closed if the task is cancelled.
    private func next(of feed: NIOLoopBound<any BodyFeed>, on loop: any EventLoop) async throws -> ByteBuffer? {
        let piece: ByteBuffer?
        do {
            piece = try await withTaskCancellationHandler {
                try await loop.flatSubmit { feed.value.next() }.get()
            } onCancel: {
                loop.execute { feed.value.close() }
            }
        } catch {
            throw Task.isCancelled ? Self.cancelled : error
        }
        guard !Task.isCancelled else { throw Self.cancelled }
        return piece
    }

    private static var cancelled: HTTPError {
        HTTPError(.cancelled, processing: .neverSent, reason: "the task was cancelled")
    }
}
