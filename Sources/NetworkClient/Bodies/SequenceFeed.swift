import NIOCore

/// Provides the elements of an asynchronous sequence, each of which is requested on demand.
///
/// Unchecked, because it is used on its event loop only: the task that reads the sequence hops back to it.
final class SequenceFeed: BodyFeed, @unchecked Sendable {
    /// Reads a sequence: one element for each demand, then nil at its end; called in its own task.
    typealias Reading =
        @Sendable (_ demands: AsyncStream<Void>, _ give: @Sendable (ByteBuffer?) -> Void) async throws
        -> Void

    private let loop: any EventLoop
    private let length: Int64?
    private var given: Int64 = 0
    private var waiting: EventLoopPromise<ByteBuffer?>?
    /// The piece that completes the announced length: delivered once the sequence has ended.
    private var last: ByteBuffer?
    private var hasEnded = false
    /// The error, which is kept for later calls of ``next()`` too.
    private var failure: (any Error)?
    private let demands: AsyncStream<Void>.Continuation
    private var task: Task<Void, Never>?

    init(length: Int64?, loop: any EventLoop, _ read: @escaping Reading) {
        self.loop = loop
        self.length = length
        let (stream, demands) = AsyncStream.makeStream(of: Void.self)
        self.demands = demands
        task = Task { [self] in
            do {
                try await read(stream) { piece in loop.execute { [self] in came(piece) } }
            } catch {
                loop.execute { [self] in failed(error) }
            }
        }
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        if let failure { return loop.makeFailedFuture(failure) }
        guard !hasEnded else { return loop.makeSucceededFuture(nil) }
        let promise = loop.makePromise(of: ByteBuffer?.self)
        waiting = promise
        demands.yield()
        return promise.futureResult
    }

    func close() {
        task?.cancel()
        task = nil
        demands.finish()
        last = nil
        failed(CancellationError())
    }

    private func came(_ piece: ByteBuffer?) {
        guard let piece else { return ended() }
        given += Int64(piece.readableBytes)
        if let length, given > length {
            return failed(HTTPError.wrongLength("it gives more than the \(length) bytes that were promised"))
        }
        if piece.readableBytes > 0, given != length { return complete(.success(piece)) }
        if piece.readableBytes > 0 { last = piece }
        demands.yield()
    }

    private func ended() {
        if let length, given < length {
            return failed(HTTPError.wrongLength("it ended after \(given) of the \(length) bytes that were promised"))
        }
        hasEnded = true
        complete(.success(last))
        last = nil
    }

    private func failed(_ error: any Error) {
        failure = failure ?? error
        complete(.failure(error))
    }

    private func complete(_ result: Result<ByteBuffer?, any Error>) {
        let promise = waiting
        waiting = nil
        promise?.completeWith(result)
    }
}

extension SequenceFeed {
    /// Returns a function that reads a sequence whose elements are converted to buffers.
    static func reading<Elements: AsyncSequence & Sendable>(
        _ make: @escaping @Sendable () async throws -> Elements,
        _ buffer: @escaping @Sendable (Elements.Element) -> ByteBuffer
    ) -> Reading {
        { demands, give in try await read(make(), buffer, demands, give) }
    }

    static func read<Elements: AsyncSequence>(
        _ elements: Elements,
        _ buffer: (Elements.Element) -> ByteBuffer,
        _ demands: AsyncStream<Void>,
        _ give: (ByteBuffer?) -> Void
    ) async throws {
        var iterator = elements.makeAsyncIterator()
        for await _ in demands {
            guard let element = try await iterator.next(isolation: #isolation) else { return give(nil) }
            give(buffer(element))
        }
    }
}

extension HTTPError {
    fileprivate static func wrongLength(_ how: String) -> Self {
        .init(
            .bodyUnavailable,
            processing: .neverSent,
            reason: "the sequence of the request's body has another length: \(how)"
        )
    }
}
