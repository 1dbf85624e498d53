import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore

/// The connection of a WebSocket after the opening handshake.
///
/// Unchecked, because it is confined to the session's event loop, which each entry checks; the inbox can be used from any
/// thread.
final class WebSocketConnection: UpgradedStreamReceiver, DeadlineOwner, @unchecked Sendable {
    let loop: any EventLoop
    /// The received messages.
    let inbox = WebSocketInbox()
    /// The terms on which both sides have agreed.
    let agreement: WebSocketHandshake.Agreement
    /// The request; nil once the WebSocket has ended.
    private var handle: WebSocketRequest?
    private let core: SessionCore
    private let stream: any UpgradedStream
    private let options: WebSocketOptions
    private let host: String
    private let output: WebSocketOutput
    private var head: HTTPResponseHead?

    // Receiving.
    private var parser: WebSocketParser
    private var assembler: WebSocketAssembler
    private let inflater: MessageInflater?
    private var isMessageCompressed = false
    private var input = ByteBuffer()
    private var isParsing = false
    private var isReading = true
    private var lastReceived = NIODeadline.now()
    /// The end of the connection, which was received while the messages were not read.
    private var heldEnd: HeldEnd?

    private struct HeldEnd { var cause: (any Error)? }

    // The end.
    private var closing = WebSocketClosing()
    /// Whether the user has closed the WebSocket: further messages are discarded.
    private var isClosedByUser = false
    /// Whether the WebSocket has ended; the stream may still be open for a short time.
    private var isOver = false
    private lazy var closeTimer = DeadlineTimer(self, loop)
    private var closeWaiters: [(WebSocketClosure) -> Void] = []
    private var failure: HTTPError?

    // Pings.
    private var pings = WebSocketPings()
    private var pingWaiters: [UInt64: (call: WebSocketCall, completion: (Result<Duration, HTTPError>) -> Void)] = [:]
    private lazy var keepAliveTimer = DeadlineTimer(self, loop)

    init(_ handle: WebSocketRequest, _ stream: any UpgradedStream, _ agreement: WebSocketHandshake.Agreement) {
        self.handle = handle
        self.stream = stream
        self.agreement = agreement
        core = handle.core
        loop = core.loop
        options = handle.options
        host = handle.current.endpoint.text
        output = .init(stream, on: loop, options, agreement)
        inflater = agreement.compression.flatMap { MessageInflater($0) }
        parser = .init(maximumMessageSize: options.maximumMessageSize, allowsCompression: inflater != nil)
        assembler = .init(maximumSize: options.maximumMessageSize)
        inbox.whenRoom { [weak self, loop] in
            loop.execute { [weak self] in self?.resumeReading() }
        }
    }

    /// The addresses of both ends; nil if it is not an IP socket, or one that it shares.
    var addresses: (local: IPAddress, remote: IPAddress)? {
        guard let channel = stream.channel, let local = channel.localAddress.flatMap({ IPAddress($0) }),
            let remote = channel.remoteAddress.flatMap({ IPAddress($0) })
        else { return nil }
        return (local, remote)
    }

    /// Begins to receive, and passes the WebSocket to the user.
    func start(_ head: HTTPResponseHead) {
        loop.preconditionInEventLoop()
        self.head = head
        do {
            try stream.start(self)
        } catch {
            return finish(.failure(.lost(error, hasHead: false, at: host)))
        }
        scheduleKeepAlive()
        handle?.begin(.open(self, .init(head)))
        stream.resume()
    }

    // MARK: Receiving

    func receive(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        var bytes = bytes
        lastReceived = .now()
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        let wasReading = isReading
        parse()
        // What was read before the connection was stopped may come when the inbox has room again.
        if !wasReading, isReading, !isOver { stream.setReading(true) }
    }

    func streamIsWritable() { output.resume() }

    /// Parses the input while the messages are read; stops reading the connection while they are not.
    private func parse() {
        guard !isParsing, !isOver else { return }
        isParsing = true
        defer { isParsing = false }
        do throws(WebSocketFault) {
            while !isOver, hasRoom, try parseNext() {}
        } catch {
            fail(error)
        }
    }

    /// Whether further messages are accepted; if not, the connection is not read until they are.
    private var hasRoom: Bool {
        let isFull = !isClosedByUser && inbox.isFull()
        if isFull, isReading { stream.setReading(false) }
        isReading = !isFull
        return !isFull
    }

    private func resumeReading() {
        guard !isOver, !isReading else { return }
        // Nothing could be received meanwhile.
        lastReceived = .now()
        parse()
        guard isReading else { return }
        if let heldEnd { connectionEnded(heldEnd.cause) } else { stream.setReading(true) }
    }

    /// Ends the WebSocket with its connection, once what was received before is read.
    ///
    /// When the server closes the connection, the channel reads up to the end regardless.
    func streamEnded(_ cause: (any Error)?) {
        heldEnd = heldEnd ?? .init(cause: cause)
        parse()
        guard !isReading else { return connectionEnded(cause) }
        // What was received can still be read, but nothing can be sent any more.
        output.failAll(closedError)
        failPings()
    }

    /// Parses up to the next event; returns whether there was one.
    private func parseNext() throws(WebSocketFault) -> Bool {
        let result = input.withUnsafeReadableBytes { bytes in
            Result { () throws(WebSocketFault) in try parser.next(bytes) }
        }
        let (consumed, event) = try result.get()
        guard case .payload(let count)? = event else {
            input.moveReaderIndex(forwardBy: consumed)
            if let event { try receive(event) }
            return event != nil
        }
        input.moveReaderIndex(forwardBy: consumed - count)
        if let payload = input.readSlice(length: count) { try receivePayload(payload) }
        return true
    }

    private func receive(_ event: WebSocketParser.Event) throws(WebSocketFault) {
        switch event {
        case .begin(let isText, let isCompressed):
            assembler.begin(isText: isText)
            isMessageCompressed = isCompressed
        case .payload: break
        case .end: try receiveEnd()
        case .ping(let payload): if closing.sent == nil { output.pong(payload) }
        case .pong(let payload): receivePong(payload)
        case .close(let closure): receiveClose(closure)
        }
    }

    private func receivePayload(_ payload: ByteBuffer) throws(WebSocketFault) {
        if isMessageCompressed, let inflater {
            return try inflater.inflate(payload) { piece throws(WebSocketFault) in try assembler.append(piece) }
        }
        let result = payload.withUnsafeReadableBytes { bytes in
            Result { () throws(WebSocketFault) in try assembler.append(bytes) }
        }
        try result.get()
    }

    private func receiveEnd() throws(WebSocketFault) {
        if isMessageCompressed, let inflater {
            try inflater.finish { piece throws(WebSocketFault) in try assembler.append(piece) }
        }
        let message = try assembler.end()
        if !isClosedByUser { inbox.give(message) }
    }

    // MARK: Sending

    /// Sends a message; the completion is called when the kernel has accepted it.
    func send(
        _ payload: ByteBuffer,
        isText: Bool,
        for call: WebSocketCall,
        _ completion: @escaping WebSocketOutput.Completion
    ) {
        loop.preconditionInEventLoop()
        guard !call.isCancelled else { return completion(.failure(.cancelledCall("sending to", .neverSent))) }
        guard canSend else { return completion(.failure(closedError)) }
        output.send(payload, isText: isText, for: call, completion)
    }

    /// Ends a call whose task was cancelled.
    func cancel(_ call: WebSocketCall) {
        loop.preconditionInEventLoop()
        output.cancel(call)
        guard let (id, waiter) = pingWaiters.first(where: { $0.value.call === call }) else { return }
        pingWaiters[id] = nil
        waiter.completion(.failure(.cancelledCall("the ping of")))
    }

    private var canSend: Bool { closing.isOpen && !isClosedByUser && !isOver && heldEnd == nil }

    /// The error for calls after the end.
    private var closedError: HTTPError {
        let closure = inbox.closure ?? closing.received ?? closing.sent
        let loss = closure == nil ? heldEnd.map { HTTPError.webSocketLost($0.cause, at: host) } : nil
        var error = failure ?? loss ?? .webSocketClosed(closure)
        error.processing = .neverSent
        return error
    }

    // MARK: Pings

    /// Sends a ping; the completion gets the round-trip time.
    func ping(for call: WebSocketCall, _ completion: @escaping (Result<Duration, HTTPError>) -> Void) {
        loop.preconditionInEventLoop()
        guard !call.isCancelled else { return completion(.failure(.cancelledCall("the ping of", .neverSent))) }
        guard canSend else { return completion(.failure(closedError)) }
        pingWaiters[sendPing()] = (call, completion)
    }

    private func sendPing() -> UInt64 {
        let (id, payload) = pings.send(at: .init(.now()))
        output.ping(payload)
        return id
    }

    private func receivePong(_ payload: [UInt8]) {
        for (id, roundTrip) in pings.receive(payload, at: .init(.now())) {
            pingWaiters.removeValue(forKey: id)?.completion(.success(roundTrip))
        }
        if pings.oldest == nil { scheduleKeepAlive() }
    }

    /// The time of the next ping; or, while one has no pong, the time when the connection counts as lost.
    private func keepAliveDeadline(_ interval: Duration) -> NIODeadline {
        guard let sent = pings.oldest else { return lastReceived + .init(interval) }
        return max(lastReceived, .uptimeNanoseconds(UInt64(sent.nanoseconds))) + .init(options.keepAliveTimeout)
    }

    private func scheduleKeepAlive() {
        guard let interval = options.keepAliveInterval, !isOver else { return }
        let now = NIODeadline.now()
        keepAliveTimer.deadlines[.read] = Instant(isReading ? keepAliveDeadline(interval) : now + .init(interval))
        keepAliveTimer.schedule(at: now)
    }

    /// Sends a ping if nothing was received for the interval, and gives the connection up if no byte followed one.
    private func checkAlive() {
        guard let interval = options.keepAliveInterval, closing.isOpen else { return }
        if isReading, keepAliveDeadline(interval) <= .now() {
            guard pings.oldest == nil else { return giveUp() }
            _ = sendPing()
        }
        scheduleKeepAlive()
    }

    private func giveUp() {
        stream.checkLiveness()
        let reason = "\(host) has not responded to a ping within \(options.keepAliveTimeout)"
        finish(.failure(.init(.connectionLost, processing: .answered, reason: reason)))
        shut(inOrder: false)
    }

    // MARK: Closing

    /// Closes the WebSocket in order; the completion gets the other side's Close frame.
    func close(_ closure: WebSocketClosure, _ completion: @escaping (WebSocketClosure) -> Void) {
        loop.preconditionInEventLoop()
        guard !isOver else { return completion(inbox.closure ?? closing.closure) }
        closeWaiters.append(completion)
        guard !isClosedByUser, closing.send(closure) else { return }
        isClosedByUser = true
        output.close(closure, discardsQueue: false)
        limitClosing()
        resumeReading()
    }

    /// Closes the WebSocket because its user has released it.
    func release() {
        close(.init(.goingAway)) { _ in }
    }

    private func receiveClose(_ closure: WebSocketClosure) {
        // The client's own Close frame may be queued.
        output.close(closing.receive(closure) ?? .init(closure.code), discardsQueue: true)
        endStream()
        finish(.success(()))
    }

    /// Closes the WebSocket because of the server's fault.
    private func fail(_ fault: WebSocketFault) {
        guard !isOver else { return }
        let closure = WebSocketClosure(fault.code)
        _ = closing.send(closure)
        output.close(closure, discardsQueue: true)
        endStream()
        finish(.failure(fault.error(at: host)))
    }

    /// Ends the stream after the Close frame; the server closes a connection first (RFC 6455, 7.1.1).
    private func endStream() {
        stream.finishOutput()
        limitClosing()
    }

    /// Closes the connection if the server does not.
    private func limitClosing() {
        guard closeTimer.deadlines[.total] == nil else { return }
        let now = NIODeadline.now()
        closeTimer.set(.total, after: options.closeTimeout, from: now)
        closeTimer.schedule(at: now)
    }

    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline) {
        guard kind == .total else { return checkAlive() }
        closing.end()
        finish(.success(()))
        shut(inOrder: true)
    }

    /// Ends the WebSocket immediately, because its request has ended.
    func abort() {
        loop.preconditionInEventLoop()
        guard !isOver else { return }
        let error = HTTPError(.cancelled, processing: .answered, reason: "the WebSocket was cancelled")
        finish(.failure(error), endsRequest: false)
        shut(inOrder: false)
    }

    private func connectionEnded(_ cause: (any Error)?) {
        closeTimer.cancel()
        closing.end()
        let isExpected = isClosedByUser && cause == nil
        finish(isExpected ? .success(()) : .failure(.webSocketLost(cause, at: host)))
    }

    /// Reports the end to all who wait for it; called several times.
    private func finish(_ result: Result<Void, HTTPError>, endsRequest: Bool = true) {
        guard !isOver else { return }
        isOver = true
        keepAliveTimer.cancel()
        input = ByteBuffer()
        core.gate.followingKeeper?.unfollow(self)
        let closure = closing.closure
        if case .failure(let error) = result { failure = error }
        // First, so that the session no longer lists the request when a waiter continues.
        if endsRequest { endRequest() }
        inbox.end(delivery(closure), closure)
        output.failAll(closedError)
        completeAll(closure)
        handle = nil
    }

    /// The end of the messages.
    private func delivery(_ closure: WebSocketClosure) -> WebSocketInbox.Delivery {
        if let failure { return .failure(failure) }
        guard !isClosedByUser, !closure.code.isUsual else { return .success(nil) }
        return .failure(.webSocketClosed(byServer: closure))
    }

    private func completeAll(_ closure: WebSocketClosure) {
        failPings()
        let waitingCloses = closeWaiters
        closeWaiters = []
        for waiter in waitingCloses { waiter(closure) }
    }

    private func failPings() {
        let waiting = pingWaiters
        pingWaiters = [:]
        for (_, waiter) in waiting { waiter.completion(.failure(closedError)) }
    }

    private func endRequest() {
        guard let handle, handle.run.isUpgraded, let head else { return }
        if let failure { return core.end(handle, .failure(failure)) }
        core.end(handle, .success(.init(head, .init(), of: handle)))
    }

    /// Closes the connection, whatever the server does.
    private func shut(inOrder: Bool) { stream.close(inOrder: inOrder) }
}

extension WebSocketConnection: PathFollowing {
    var pathLossPolicy: PathLossPolicy? { handle?.current.policy.pathLoss }

    var lastByte: NIODeadline { lastReceived }

    func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?) {
        let reason = handle.flatMap { loss.reason(at: $0.current.endpoint) } ?? "the path to \(host) was lost"
        finish(.failure(.init(.pathLost, processing: .answered, reason: reason)))
        guard let restoration else { return shut(inOrder: false) }
        restoration.assumeIsolated().whenComplete { [self] _ in shut(inOrder: false) }
    }
}

extension WebSocketCloseCode {
    /// Whether a server that closes with it reports no error.
    fileprivate var isUsual: Bool { self == .normal || self == .goingAway || self == .noStatus }
}
