import NIOCore
import NIOPosix
import NetworkClientCore

/// Writes to a sink in order, off the event loop, with a limit on the bytes that wait.
///
/// Unchecked, because it is used on its event loop only; the sink, by one job at a time.
final class SinkWriter: @unchecked Sendable {
    /// The number of waiting bytes above which reading from the connection stops; as many again may be being written.
    static let limit = 2 << 20
    /// The minimum cost of a piece: a small one may retain the whole buffer that it was received in.
    private static let leastCost = 16_384

    private enum Job: Sendable {
        case restart(DownloadPart)
        case bytes(ByteBuffer)
        case finish
    }

    private let sink: any FileSink
    private let loop: any EventLoop
    private var jobs: [Job] = []
    private var waiting = 0
    private var isBusy = false
    private var isOpen = false
    private var room: EventLoopPromise<Void>?
    private var finished: EventLoopPromise<Void>?
    private(set) var failure: HTTPError?
    /// Whether to keep what was written when the sink is closed; nil if it is not to be closed.
    private var closesKeeping: Bool?
    private var closed: EventLoopPromise<Void>?
    private var closeTimer: Scheduled<Void>?
    /// The thread for operations that may block indefinitely.
    private var thread: BlockingThread?

    init(_ sink: any FileSink, loop: any EventLoop) {
        self.sink = sink
        self.loop = loop
    }

    /// Whether what was written can be discarded; call it only when the sink is not being opened.
    var isRestartable: Bool { sink.isRestartable }

    /// Opens the sink; returns the part that already exists.
    func open() -> EventLoopFuture<DownloadPart> {
        let opened = loop.makePromise(of: DownloadPart.self)
        isBusy = true
        let sink = UnsafeSink(sink)
        // Opening a FIFO blocks until there is a reader.
        perform(mayBlock: true) { () -> Result<DownloadPart, HTTPError> in
            Result { () throws(HTTPError) in try sink.value.open() }
        } then: { [self] result in
            isBusy = false
            isOpen = true
            if !sink.value.mayBlock { thread = nil }
            switch result {
            case .success(let part): opened.succeed(part)
            case .failure(let error):
                failure = error
                opened.fail(error)
            }
            run()
        }
        return opened.futureResult
    }

    /// Discards what was written.
    func restart(_ part: DownloadPart) {
        jobs.append(.restart(part))
        run()
    }

    /// Writes the next bytes.
    ///
    /// - Returns: Nil if more bytes may follow immediately; otherwise a future that succeeds when there is room again.
    func write(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        if let failure { throw failure }
        waiting += Self.cost(bytes)
        jobs.append(.bytes(bytes))
        run()
        guard waiting > Self.limit else { return nil }
        let room = room ?? loop.makePromise()
        self.room = room
        return room.futureResult
    }

    private static func cost(_ bytes: ByteBuffer) -> Int { max(bytes.readableBytes, leastCost) }

    /// Moves the file to its final path, once all bytes are written.
    func finish() -> EventLoopFuture<Void> {
        if let failure { return loop.makeFailedFuture(failure) }
        let finished = finished ?? loop.makePromise()
        self.finished = finished
        jobs.append(.finish)
        run()
        return finished.futureResult
    }

    /// Closes the sink once the bytes that were passed are written.
    ///
    /// A pending ``finish()`` is dropped, unless it is already in progress.
    ///
    /// - Parameter isKept: Whether to keep what was written, so that it can be continued; if not, it is removed.
    /// - Returns: A future that succeeds when the sink is closed, or after 30 seconds, for example on a disk that
    ///   hangs; after one second if opening or writing depends on another process.
    func close(isKept: Bool) -> EventLoopFuture<Void>? {
        guard closesKeeping == nil else { return nil }
        closesKeeping = isKept
        jobs.removeAll { if case .finish = $0 { true } else { false } }
        let isOpening = isBusy && !isOpen
        let isPatient = !isOpening && !sink.mayBlock
        let closed = loop.makePromise(of: Void.self)
        self.closed = closed
        closeTimer = loop.assumeIsolated().scheduleTask(in: isPatient ? .seconds(30) : .seconds(1)) { [self] in
            self.closed = nil
            closed.succeed()
        }
        run()
        return closed.futureResult
    }

    // MARK: Working

    private func run() {
        guard !isBusy, isOpen else { return }
        if failure != nil { jobs = [] }
        guard !jobs.isEmpty else { return rest() }
        let batch = jobs
        jobs = []
        isBusy = true
        let sink = UnsafeSink(sink)
        perform(mayBlock: self.sink.mayBlock) { () -> Result<Void, HTTPError> in
            Result { () throws(HTTPError) in for job in batch { try Self.work(job, on: sink.value) } }
        } then: { [self] result in
            done(batch, result)
        }
    }

    private static func work(_ job: Job, on sink: any FileSink) throws(HTTPError) {
        switch job {
        case .restart(let part): try sink.restart(part)
        case .bytes(let bytes): try sink.write(bytes)
        case .finish: try sink.finish()
        }
    }

    private func done(_ batch: [Job], _ result: Result<Void, HTTPError>) {
        isBusy = false
        var hasFinished = false
        for job in batch {
            switch job {
            case .restart: break
            case .bytes(let bytes): waiting -= Self.cost(bytes)
            case .finish: hasFinished = true
            }
        }
        if case .failure(var error) = result {
            error.processing = .answered
            failure = error
        }
        tell(hasFinished: hasFinished)
        run()
    }

    private func tell(hasFinished: Bool) {
        if let failure { return fail(failure) }
        if waiting <= Self.limit / 2 { Self.take(&room)?.succeed() }
        if hasFinished { Self.take(&finished)?.succeed() }
    }

    private func fail(_ error: HTTPError) {
        let (room, finished) = (Self.take(&room), Self.take(&finished))
        room?.fail(error)
        finished?.fail(error)
    }

    /// Takes a promise out of its property before it is completed.
    ///
    /// Completing a promise runs its callbacks immediately. A callback that found the completed promise still in place
    /// would get a future that has already succeeded, and see no back-pressure from then on.
    private static func take(_ promise: inout EventLoopPromise<Void>?) -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }

    /// Handles an empty queue: closes the sink if requested.
    private func rest() {
        guard let isKept = closesKeeping else { return }
        isOpen = false
        fail(HTTPError(.cancelled, processing: .answered, reason: "the request has ended"))
        let sink = UnsafeSink(sink)
        perform(mayBlock: self.sink.mayBlock) {
            sink.value.close(isKept: isKept)
        } then: { [self] in
            thread = nil
            closeTimer?.cancel()
            Self.take(&closed)?.succeed()
        }
    }

    /// Runs a closure on another thread, and passes its result to a callback on the loop.
    private func perform<Value: Sendable>(
        mayBlock: Bool,
        _ work: @escaping @Sendable () -> Value,
        then: @escaping (Value) -> Void
    ) {
        let promise = loop.makePromise(of: Value.self)
        promise.futureResult.assumeIsolated().whenSuccess(then)
        if mayBlock {
            thread = thread ?? .init()
            if let thread { return thread.perform { promise.succeed(work()) } }
        }
        NIOThreadPool.singleton.submit { _ in promise.succeed(work()) }
    }
}

/// Transfers a sink to the thread of a job.
///
/// Unchecked, because jobs never overlap.
private struct UnsafeSink: @unchecked Sendable {
    let value: any FileSink

    init(_ value: any FileSink) { self.value = value }
}
