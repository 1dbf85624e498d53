import HTTPSerialization
import NIOCore
import Synchronization

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

/// Sees to it that what can be read once is read once, whoever asks.
final class SingleUse: Sendable {
    private let isUsed = Atomic(false)

    func begin() throws(HTTPError) {
        guard !isUsed.exchange(true, ordering: .relaxed) else {
            let reason = "the request's body can be read only once, and was: give it as bytes, a file or a factory"
            throw .init(.bodyNotReplayable, .neverSent, reason)
        }
    }
}
