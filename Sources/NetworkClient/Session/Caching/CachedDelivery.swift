import NIOCore
import NIOHTTP1
import NetworkClientCore

/// A response that a cache makes of a stored one.
struct CachedContent {
    var head: HTTPResponseHead
    var body: Body
    /// The part of the body; nil for the whole.
    var range: Range<Int64>?
    /// Its origin; nil if the cache has made it up.
    var origin: CacheOrigin?

    /// The body, with its codings.
    enum Body {
        case bytes(ByteBuffer)
        case file(CacheFileReader)
    }

    /// Makes it the response to a condition that is false (RFC 9110, 15.4.5).
    mutating func become304(of stored: CachedResponse) {
        let age = head.headers["Age"]
        var notModified = stored
        (notModified.status, notModified.reason) = (304, "Not Modified")
        notModified.fields = ValidationRules.notModifiedFields(of: stored)
        head = .init(notModified)
        for value in age { head.headers.add(name: "Age", value: value) }
        body = .bytes(.init())
    }

    /// Makes it a part (RFC 9110, 15.3.7).
    mutating func become206(_ bytes: Range<Int64>, of length: Int64) {
        head.status = .partialContent
        let text = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)"
        head.headers.replaceOrAdd(name: "Content-Range", value: text)
        head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.upperBound - bytes.lowerBound)")
        range = bytes
    }
}

/// Delivers a stored response to a request, as an exchange delivers one of a connection.
///
/// Unchecked, because everything is used on the session's event loop only.
final class CachedDelivery: @unchecked Sendable {
    private let core: SessionCore
    private let handle: RequestHandle
    private let content: CachedContent
    private var assembly: BodyAssembly
    /// The receiver of the body; nil for memory.
    private var receiver: (any BodyReceiver)?
    /// The position in the body.
    private var position: Int64 = 0
    private var end: Int64 = 0
    /// Whether a piece is being read or received.
    private var isBusy = false
    private var isEnded = false

    /// The size of the pieces of a file, in bytes.
    private static let pieceSize: Int64 = 262_144

    init(_ core: SessionCore, _ handle: RequestHandle, _ content: CachedContent) {
        (self.core, self.handle, self.content) = (core, handle, content)
        assembly = .init(limit: handle.current.maximumBodySize)
    }

    private var hasBody: Bool { handle.current.head.method != .HEAD && !content.head.hasNoBody }

    /// Delivers the head, and then the body.
    func start() {
        handle.enter(.delivering(self))
        core.limit(handle)
        handle.run.metrics.answered = .now()
        handle.run.metrics.response = (Int(content.head.status.code), content.head.version)
        if core.events.isObserved(handle) { core.events.tell(.head(.init(content.head)), handle) }
        // A listener may have ended the request.
        guard !isEnded else { return }
        do throws(HTTPError) {
            try begin()
        } catch {
            return fail(error)
        }
        pump()
    }

    private func begin() throws(HTTPError) {
        // An earlier attempt may have set them, and then have failed.
        handle.run.extras?.wantsRestart = false
        handle.run.extras?.following?.isHeldBack = false
        let decision = core.stages.receivedStored(content.head, handle)
        let receiver = handle.run.extras?.receiver
        if !decision.withholdsBody, let receiver { try begin(receiver) }
        guard hasBody, decision != .discard else { return }
        let length: Int64 =
            switch content.body {
            case .bytes(let bytes): Int64(bytes.readableBytes)
            case .file(let reader): reader.length
            }
        (position, end) = (content.range?.lowerBound ?? 0, min(length, content.range?.upperBound ?? length))
        let decompresses = core.configuration.decompresses && core.configuration.transport == nil
        try assembly.expect(content.head, decompresses: decompresses && content.range == nil)
    }

    private func begin(_ receiver: any BodyReceiver) throws(HTTPError) {
        switch try receiver.begin(content.head) {
        case .memory: break
        case .again: handle.extras.wantsRestart = true
        case .whole: self.receiver = receiver
        case .here:
            self.receiver = receiver
            assembly.limit = handle.current.maximumStreamSize
            assembly.isKept = false
        }
    }

    // MARK: The body

    /// Delivers pieces until the receiver is busy, a file has to be read, or the request is paused.
    private func pump() {
        do throws(HTTPError) {
            while !isEnded, !isBusy, !handle.run.isPaused {
                if let piece = try decompressed() {
                    try hand(piece)
                } else if position < end {
                    try takePiece()
                } else {
                    return try finish()
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Returns the next decompressed piece for the receiver.
    private func decompressed() throws(HTTPError) -> ByteBuffer? {
        receiver == nil || assembly.isKept ? nil : try assembly.decompressor?.next()
    }

    private func takePiece() throws(HTTPError) {
        switch content.body {
        case .bytes(let bytes):
            let start = bytes.readerIndex + Int(position)
            let piece = bytes.getSlice(at: start, length: Int(end - position)) ?? .init()
            position = end
            try accept(piece)
        case .file(let reader): read(reader)
        }
    }

    private func read(_ reader: CacheFileReader) {
        isBusy = true
        let size = min(Self.pieceSize, end - position)
        reader.read(at: position, size, on: core.loop) { [self] piece in
            isBusy = false
            guard !isEnded else { return }
            guard let piece else { return fail(.unreadableCache(handle)) }
            position += size
            do throws(HTTPError) {
                try accept(piece)
            } catch {
                return fail(error)
            }
            pump()
        }
    }

    private func accept(_ piece: ByteBuffer) throws(HTTPError) {
        handle.run.metrics.bodyBytesReceived += piece.readableBytes
        guard receiver != nil, !assembly.isKept else {
            try assembly.append(piece)
            return report()
        }
        if let decompressor = assembly.decompressor {
            decompressor.feed(piece)
        } else {
            try assembly.pass(piece.readableBytes)
            try hand(piece)
        }
        report()
    }

    private func report() {
        guard core.events.isObserved(handle) else { return }
        let count = handle.run.metrics.bodyBytesReceived
        core.events.tell(.received(bytes: count, of: assembly.announced), handle)
    }

    private func hand(_ piece: ByteBuffer) throws(HTTPError) {
        guard let receiver, let received = try receiver.receive(piece) else { return }
        isBusy = true
        received.assumeIsolated().whenComplete { [self] result in
            isBusy = false
            guard !isEnded else { return }
            if case .failure(let error) = result { return fail(.bodyWriteFailed(error)) }
            pump()
        }
    }

    // MARK: The end

    private func finish() throws(HTTPError) {
        let body = try assembly.finish()
        isEnded = true
        handle.run.metrics.end = .now()
        handle.enter(.attemptEnded)
        var response = DataResponse(content.head, body, of: handle)
        response.cached = content.origin
        if let receiver { core.keep(handle, receiver, response) } else { core.answered(handle, response) }
    }

    private func fail(_ error: HTTPError) {
        guard !isEnded else { return }
        cancel()
        var error = error
        error.response = .init(content.head)
        handle.enter(.attemptEnded)
        core.attemptFailed(handle, error)
    }

    /// Stops delivering.
    func cancel() {
        isEnded = true
        receiver?.abandon()
    }

    /// Continues after a pause.
    func resume() {
        core.limit(handle)
        pump()
    }
}

extension HTTPError {
    /// The error for a file of the cache that was checked, and can't be read afterwards.
    fileprivate static func unreadableCache(_ handle: RequestHandle) -> Self {
        let reason =
            "the stored response of \(handle.current.description) can't be read any more: send the request again"
        return .init(.fileFailed, processing: .answered, reason: reason)
    }
}

/// Discards a body, which is only received to be stored, and ends the request if the body is too large for that.
final class DiscardingReceiver: BodyReceiver {
    /// The request, which retains this receiver.
    private unowned let handle: RequestHandle
    private let limit: Int

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - limit: The maximum size of a body that is stored, in bytes as they are received.
    init(_ handle: RequestHandle, limit: Int) { (self.handle, self.limit) = (handle, limit) }

    var canStartAgain: Bool { true }
    var continuesByRange: Bool { false }

    func willSend(_ head: inout HTTPRequestHead) {}

    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception {
        let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        guard length <= limit else { throw tooLarge }
        return .here
    }

    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        guard handle.run.metrics.bodyBytesReceived > limit else { return nil }
        throw tooLarge
    }

    private var tooLarge: HTTPError {
        let reason = "the response is larger than the \(limit) bytes that the cache stores of one"
        return .init(.bodyTooLarge, processing: .answered, reason: reason)
    }

    func end() -> EventLoopFuture<Void>? { nil }
    func abandon() {}
}
