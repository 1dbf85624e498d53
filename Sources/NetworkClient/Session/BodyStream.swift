import Locking
import NIOCore
import NIOHTTP1

/// The buffer of a response's body between the event loop and its reader.
///
/// Its size is bounded: while it is full, the connection is not read, and the server has to wait.
final class BodyStream: Sendable {
    /// The number of buffered bytes above which the connection is not read.
    static let limit = 256 << 10
    /// The memory that a piece takes besides its bytes.
    static let pieceOverhead = 128

    /// The first result: the head of a response whose body follows in this stream, or the outcome of the request.
    enum Beginning: Sendable {
        case head(HTTPResponse, at: HTTPURL, CacheOrigin?)
        case end(Result<DataResponse, HTTPError>)
    }

    private struct State {
        var beginning: Beginning?
        var whenBegun: [@Sendable (Beginning) -> Void] = []
        var pieces = CircularBuffer<ByteBuffer>()
        /// The memory that the pieces take, in bytes.
        var waitingBytes = 0
        var room: EventLoopPromise<Void>?
        /// The task that waits for the next piece or the end, which it then takes itself: what passes through the lock is
        /// handed over in a way that the thread sanitizer sees.
        var reader: Reader?
        var end: Result<Void, HTTPError>?
        /// Whether the reader has released the stream.
        var isAbandoned = false

        mutating func append(_ piece: ByteBuffer) {
            // A reader that waits takes it immediately.
            pieces.append(reader == nil ? piece.withOwnMemory : piece)
            waitingBytes += piece.readableBytes + BodyStream.pieceOverhead
        }

        mutating func pop() -> ByteBuffer? {
            guard let piece = pieces.popFirst() else { return nil }
            waitingBytes -= piece.readableBytes + BodyStream.pieceOverhead
            return piece
        }

        /// Discards what was not read, which ends in an error: a later reader must not mistake it for an empty rest.
        mutating func abandon() {
            isAbandoned = true
            let isRead = pieces.isEmpty
            pieces = []
            waitingBytes = 0
            if case .failure? = end { return }
            if end == nil || !isRead { end = .failure(Self.releasedError) }
        }

        /// The error of a reader that comes after the body was released.
        private static let releasedError = HTTPError(
            .cancelled,
            processing: .answered,
            reason: "the body was released before its end: retain it, or the response, while it is needed"
        )
    }

    private let state = Lock(State())

    // MARK: From the event loop

    /// Delivers the head; the body follows.
    func begin(_ head: HTTPResponse, at url: HTTPURL, _ origin: CacheOrigin? = nil) {
        begin(.head(head, at: url, origin))
    }

    private func begin(_ beginning: Beginning, with body: ByteBuffer = .init()) {
        let waiters = state.withLock { state -> [@Sendable (Beginning) -> Void] in
            guard state.beginning == nil else { return [] }
            state.beginning = beginning
            if body.readableBytes > 0 { state.append(body) }
            defer { state.whenBegun = [] }
            return state.whenBegun
        }
        for waiter in waiters { waiter(beginning) }
    }

    /// Delivers a piece.
    ///
    /// - Returns: Nil if there is room for more; otherwise a future that succeeds when there is.
    func give(_ piece: ByteBuffer, on loop: any EventLoop) -> EventLoopFuture<Void>? {
        guard piece.readableBytes > 0 else { return nil }
        let (reader, room) = state.withLock { state -> (Reader?, EventLoopFuture<Void>?) in
            guard !state.isAbandoned else { return (nil, nil) }
            state.append(piece)
            if let reader = state.reader {
                state.reader = nil
                return (reader, nil)
            }
            guard state.waitingBytes > Self.limit else { return (nil, nil) }
            if state.room == nil { state.room = loop.makePromise() }
            return (nil, state.room?.futureResult)
        }
        reader?.resume(returning: true)
        return room
    }

    /// Ends the body, which is complete or has failed.
    func end(_ ending: Result<Void, HTTPError>) {
        let (reader, room) = state.withLock { state -> (Reader?, EventLoopPromise<Void>?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = ending
            defer { (state.reader, state.room) = (nil, nil) }
            return (state.reader, state.room)
        }
        room?.succeed()
        reader?.resume(returning: true)
    }

    /// Ends the stream with the outcome of the request; unless the head was delivered before, the body is that of the
    /// outcome.
    func requestEnded(_ ending: Result<DataResponse, HTTPError>) {
        begin(.end(ending), with: (try? ending.get())?.buffer ?? .init())
        end(ending.map { _ in })
    }

    /// The number of buffered bytes, including the overhead of each piece.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    private typealias Reader = UnsafeContinuation<Bool, Never>

    // MARK: From the reader

    /// The first result; waits until it is known.
    var beginning: Beginning {
        get async {
            await withUnsafeContinuation { continuation in
                let begun = state.withLock { state -> Beginning? in
                    if state.beginning == nil { state.whenBegun.append { continuation.resume(returning: $0) } }
                    return state.beginning
                }
                if let begun { continuation.resume(returning: begun) }
            }
        }
    }

    /// Waits for the next piece, and returns it; nil at the end.
    ///
    /// If two tasks read at the same time, the body ends for one of them.
    func next() async throws(HTTPError) -> ByteBuffer? {
        while true {
            if let result = take() { return try result.get() }
            guard await waitForMore() else { return nil }
        }
    }

    /// Takes the next piece, or nil at the end; returns nil if neither has been received.
    private func take() -> Result<ByteBuffer?, HTTPError>? {
        let (result, room) = state.withLock { state -> (Result<ByteBuffer?, HTTPError>?, EventLoopPromise<Void>?) in
            guard let piece = state.pop() else { return (state.end.map { $0.map { nil } }, nil) }
            guard state.waitingBytes <= Self.limit / 2, let room = state.room else { return (.success(piece), nil) }
            state.room = nil
            return (.success(piece), room)
        }
        room?.succeed()
        return result
    }

    /// Suspends the task until there is a piece or the end; returns false immediately if another task waits.
    private func waitForMore() async -> Bool {
        await withUnsafeContinuation { (continuation: Reader) in
            let isReady = state.withLock { state -> Bool? in
                if !state.pieces.isEmpty || state.end != nil { return true }
                guard state.reader == nil else { return false }
                state.reader = continuation
                return nil
            }
            if let isReady { continuation.resume(returning: isReady) }
        }
    }

    /// Discards the rest of the body, because its reader has released it.
    ///
    /// - Returns: Whether the body was incomplete.
    func abandon() -> Bool {
        let (hadEnded, room) = state.withLock { state -> (Bool, EventLoopPromise<Void>?) in
            defer { state.room = nil }
            let hadEnded = state.end != nil
            state.abandon()
            return (hadEnded, state.room)
        }
        room?.succeed()
        return !hadEnded
    }
}

extension ByteBuffer {
    /// The size below which a piece that waits does not share memory.
    private static let smallSize = 4096

    /// The same bytes, in memory of their own if they are few.
    ///
    /// A small piece may keep the whole buffer in which it was received, which has 16 KiB with TLS.
    fileprivate var withOwnMemory: ByteBuffer {
        guard readableBytes < Self.smallSize, storageCapacity > 2 * readableBytes else { return self }
        return ByteBuffer(bytes: readableBytesView)
    }
}

/// The receiver that passes the body of a 2xx response to a stream; other bodies are kept in memory.
final class StreamReceiver: BodyReceiver {
    private let stream: BodyStream
    private let loop: any EventLoop
    /// The request, which retains this receiver.
    private unowned let handle: RequestHandle
    /// False once bytes were delivered, which can't be taken back.
    private(set) var canStartAgain = true
    let continuesByRange = false

    init(_ stream: BodyStream, of handle: RequestHandle) {
        self.stream = stream
        self.handle = handle
        loop = handle.core.loop
    }

    func willSend(_ head: inout HTTPRequestHead) {}

    func begin(_ head: HTTPResponseHead) -> Reception {
        guard (200...299).contains(head.status.code) else { return .memory }
        canStartAgain = false
        stream.begin(.init(head), at: handle.current.url, handle.run.extras?.caching?.origin)
        return .here
    }

    func receive(_ bytes: ByteBuffer) -> EventLoopFuture<Void>? { stream.give(bytes, on: loop) }

    func end() -> EventLoopFuture<Void>? { nil }

    func abandon() {}
}
