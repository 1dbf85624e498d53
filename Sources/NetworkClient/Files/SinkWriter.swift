import NIOCore
import NIOPosix
import NetworkClientCore

/// Writes to a sink in order and away from the event loop, with no more than a bounded number of bytes waiting.
///
/// Unchecked, because it is touched on its event loop only; the sink, by one job at a time.
final class SinkWriter: @unchecked Sendable {
    /// How many bytes may wait before the connection is left unread, and as many again are being written.
    static let limit = 2 << 20
    /// What a small piece takes: it may hold on to the whole buffer that it came in.
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
    /// Whether it is to be closed, and what was written kept.
    private var closesKeeping: Bool?
    private var closed: EventLoopPromise<Void>?
    private var closeTimer: Scheduled<Void>?
    /// Where it may take as long as others like.
    private var thread: BlockingThread?

    init(_ sink: any FileSink, loop: any EventLoop) {
        self.sink = sink
        self.loop = loop
    }

    /// Whether what was written can be taken back; asked when nothing is being opened.
    var isRestartable: Bool { sink.isRestartable }

    /// Opens the sink; gives what is there already.
    func open() -> EventLoopFuture<DownloadPart> {
        let opened = loop.makePromise(of: DownloadPart.self)
        isBusy = true
        let sink = UnsafeSink(sink)
        // A pipe is opened when somebody reads it, if ever.
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

    /// Forgets what was written.
    func restart(_ part: DownloadPart) {
        jobs.append(.restart(part))
        run()
    }

    /// Writes what came next.
    ///
    /// - Returns: Nil if more may come at once; else it is fulfilled when there is room again.
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

    /// Puts the file in its place, once all is written.
    func finish() -> EventLoopFuture<Void> {
        if let failure { return loop.makeFailedFuture(failure) }
        let finished = finished ?? loop.makePromise()
        self.finished = finished
        jobs.append(.finish)
        run()
        return finished.futureResult
    }

    /// Lets the sink go as soon as what came is written; what was to be finished is not, unless it is under way.
    ///
    /// - Parameter isKept: Whether what was written can be continued; if not, it is removed.
    /// - Returns: It is fulfilled when that is done, or has taken too long, as on a disk that hangs; where somebody
    ///   else decides how long it takes, after a second.
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

    /// Takes a promise out of its place before it is completed.
    ///
    /// Completing one calls back at once. A callback that finds the completed promise still in its place would be told
    /// that there is room for ever after.
    private static func take(_ promise: inout EventLoopPromise<Void>?) -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }

    /// Nothing is to be done.
    private func rest() {
        guard let isKept = closesKeeping else { return }
        isOpen = false
        fail(HTTPError(.cancelled, .answered, "the request has ended"))
        let sink = UnsafeSink(sink)
        perform(mayBlock: self.sink.mayBlock) {
            sink.value.close(isKept: isKept)
        } then: { [self] in
            thread = nil
            closeTimer?.cancel()
            Self.take(&closed)?.succeed()
        }
    }

    /// Does something on another thread, and tells on the loop what came of it.
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

/// Carries a sink to the thread of a job.
///
/// Unchecked, because there is one job at a time.
private struct UnsafeSink: @unchecked Sendable {
    let value: any FileSink

    init(_ value: any FileSink) { self.value = value }
}
