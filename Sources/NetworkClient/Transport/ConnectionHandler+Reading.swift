import NIOCore
import NIOHTTP1

/// Handing bodies on as fast as they are taken.
extension ConnectionHandler {
    /// Asks who takes the request's answer whether this one is for it.
    func begin(_ head: HTTPResponseHead, _ receiver: any BodyReceiver, _ handle: RequestHandle) throws(HTTPError) {
        switch try receiver.begin(head) {
        case .memory: break
        case .again where head.hasShortBody:
            handle.extras.mustGoAgain = true
            exchange?.isLikelyFollowed = true
        case .again: host.core.goAnew(handle, self)
        case .whole: exchange?.receiver = receiver
        case .here:
            exchange?.receiver = receiver
            let present = receiver.progress.map { Int(clamping: $0.bytes) } ?? 0
            exchange?.assembly.limit = max(0, handle.current.maximumStreamSize - present)
            exchange?.assembly.isKept = false
        }
    }

    /// Gives the receiver what came; what it can't take at once keeps the connection from reading.
    func handOn(_ bytes: ByteBuffer) throws(HTTPError) {
        guard let receiver = exchange?.receiver else { return }
        guard exchange?.assembly.isKept == false else { return try exchange?.assembly.append(bytes) ?? () }
        if let decompressor = exchange?.assembly.decompressor {
            decompressor.feed(bytes)
            return try inflate()
        }
        try exchange?.assembly.pass(bytes.readableBytes)
        try hand(bytes, to: receiver)
    }

    /// Inflates what came as far as the receiver takes it: a few bytes may be very many then.
    func inflate() throws(HTTPError) {
        guard let decompressor = exchange?.assembly.decompressor, let receiver = exchange?.receiver else { return }
        while exchange?.isTakerBusy == false {
            guard let piece = try decompressor.next() else { return }
            try hand(piece, to: receiver)
        }
        isHolding = exchange != nil
    }

    private func hand(_ bytes: ByteBuffer, to receiver: any BodyReceiver) throws(HTTPError) {
        if let rest = try receiver.receive(bytes) { holdReading(until: rest, receiver) }
    }

    private func holdReading(until taken: EventLoopFuture<Void>, _ receiver: any BodyReceiver) {
        holdReading()
        exchange?.isTakerBusy = true
        deadlines[.read] = nil
        taken.assumeIsolated().whenComplete { [self] result in
            guard exchange?.receiver === receiver else { return }
            switch result {
            case .failure(let error): failExchange(.unkeptBody(error))
            case .success:
                exchange?.isTakerBusy = false
                guard exchange?.isPaused == false else { return }
                takeHeld()
                if exchange?.isTakerBusy != true { letReadingGo() }
            }
        }
    }

    /// Reads nothing more; what the kernel's buffer can't hold, the server has to keep.
    func holdReading() {
        guard !isReadingHeld else { return }
        isReadingHeld = true
        setReading(false)
    }

    private func setReading(_ reads: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Reads on.
    func letReadingGo() {
        guard isReadingHeld else { return }
        isReadingHeld = false
        setReading(true)
        if exchange?.head != nil {
            lastByte = .now()
            watchReading(lastByte)
        }
    }
}

extension HTTPResponseHead {
    /// Whether it costs less to read the body than to open another connection.
    fileprivate var hasShortBody: Bool {
        headers.first(name: "Content-Length").flatMap { Int($0) }.map { $0 <= 65_536 } ?? false
    }
}

extension SessionCore {
    /// Sends a request again whose answer is not wanted, nor waited for: its connection is closed.
    fileprivate func goAnew(_ handle: RequestHandle, _ connection: ConnectionHandler) {
        handle.run.place = .nowhere
        connection.abandon()
        handle.run.life.interrupted()
        handle.run.metrics.bodyBytesReceived = 0
        if handle.run.scheduled != nil { dispatcher.hopped(handle) }
        handle.noteState()
        admit(handle)
    }

    /// A request begins, and what takes its answer may have to be opened first.
    func open(_ receiver: any BodyReceiver, _ handle: RequestHandle) {
        guard let opened = receiver.open() else { return admit(handle) }
        handle.run.place = .ending(receiver)
        limit(handle)
        opened.assumeIsolated().whenComplete { [self] result in
            guard let result = isOver(receiver, handle, result) else { return }
            switch result {
            case .success: admit(handle)
            case .failure(let error): fail(handle, error)
            }
        }
    }

    /// What a receiver has done for a request, unless that has ended meanwhile.
    private func isOver(
        _ receiver: any BodyReceiver,
        _ handle: RequestHandle,
        _ result: Result<Void, any Error>
    ) -> Result<Void, HTTPError>? {
        guard case .ending(let current) = handle.run.place, current === receiver else { return nil }
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        return result.mapError { .unkeptBody($0) }
    }

    /// An answer is whole, and its receiver has to have kept it before the request ends.
    func keep(_ handle: RequestHandle, _ receiver: any BodyReceiver, _ response: DataResponse) {
        guard let kept = receiver.end() else { return answered(handle, response) }
        handle.run.place = .ending(receiver)
        limit(handle)
        kept.assumeIsolated().whenComplete { [self] result in
            guard let result = isOver(receiver, handle, result) else { return }
            switch result {
            case .success:
                var response = response
                response.file = receiver.file
                answered(handle, response)
            case .failure(let error): fail(handle, error)
            }
        }
    }
}
