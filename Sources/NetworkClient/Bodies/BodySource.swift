import HTTPSerialization
import NIOCore
import Synchronization

/// A request's body that is not in memory, and how it is read.
struct BodySource: Sendable {
    typealias Check = @Sendable () throws(HTTPError) -> Void

    /// Its length in bytes; nil if that is not known beforehand: it is sent in chunks (RFC 9112, 7.1).
    let length: Int64?
    /// Whether it can be read more than once.
    let isReplayable: Bool
    /// Sees before each attempt, on a thread that may block, whether it can still be sent; nil where nothing can be in
    /// the way.
    let check: Check?
    /// Begins to read it, from its beginning; called on the event loop that the feed will belong to.
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

/// Gives a body piece by piece, to one attempt; belongs to the event loop it was made for.
protocol BodyFeed: AnyObject {
    /// The next piece; nil once there is none.
    ///
    /// Asked for only when the last one was given, and the connection can take more. It fails with an ``HTTPError``, or
    /// with what becomes the cause of one.
    func next() -> EventLoopFuture<ByteBuffer?>

    /// Ends the reading: nothing will be asked for any more. Called once, also after the last piece.
    func close()
}

extension BodySource {
    /// A file: what it is now is checked now and at the beginning of each attempt, when nothing is sent yet.
    static func file(_ path: String) throws(HTTPError) -> Self {
        let length = try SentFile(at: path).length
        let look: Check = { () throws(HTTPError) in try check(path, length) }
        return .init(length: length, isReplayable: true, check: look) { loop in
            FileFeed(path, length: length, loop: loop)
        }
    }

    /// A sequence that is made for each attempt.
    static func replayable(length: Int64?, _ read: @escaping SequenceFeed.Reading) -> Self {
        .init(length: length, isReplayable: true) { loop in SequenceFeed(length: length, loop: loop, read) }
    }

    /// A sequence that is read once, and refused the second time.
    static func once(length: Int64?, _ read: @escaping SequenceFeed.Reading) -> Self {
        let use = SingleUse()
        return .init(length: length, isReplayable: false) { loop throws(HTTPError) in
            try use.begin()
            return SequenceFeed(length: length, loop: loop, read)
        }
    }

    /// A form: its files are opened one after another, while it is sent.
    ///
    /// - Parameters:
    ///   - body: The form.
    ///   - isReplayable: Whether it can be read more than once.
    ///   - use: If not: the one use of all requests that have the form.
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

    /// The same, slower.
    func throttled(_ throttle: Throttle) -> Self {
        .init(length: length, isReplayable: isReplayable, check: check) { [makeFeed] loop throws(HTTPError) in
            ThrottledFeed(try makeFeed(loop), throttle, loop: loop)
        }
    }

    /// Bytes that are in memory.
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

/// Sees to it that what can be read once is read once, no matter who asks.
final class SingleUse: Sendable {
    private let isUsed = Atomic(false)

    func begin() throws(HTTPError) {
        guard !isUsed.exchange(true, ordering: .relaxed) else {
            let reason = "the request's body can be read only once, and was: give it as bytes, a file or a factory"
            throw .init(.bodyNotReplayable, .neverSent, reason)
        }
    }
}

extension BodySource {
    /// Reads the whole body, piece by piece, in order.
    ///
    /// - Parameters:
    ///   - loop: The event loop to which the feed belongs meanwhile.
    ///   - body: Takes a piece; the next one is asked for when it returns.
    /// - Throws: What the feed fails with, and what `body` throws; ``HTTPError/Code/cancelled`` if the task is
    ///   cancelled.
    func read(on loop: any EventLoop, _ body: (ByteBuffer) async throws -> Void) async throws {
        let feed = try await loop.submit { NIOLoopBound(try makeFeed(loop), eventLoop: loop) }.get()
        defer { loop.execute { feed.value.close() } }
        while let piece = try await loop.flatSubmit({ feed.value.next() }).get() {
            guard !Task.isCancelled else { throw HTTPError(.cancelled, .neverSent, "the task was cancelled") }
            try await body(piece)
        }
    }
}
