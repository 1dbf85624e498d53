import Glibc
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NetworkClientCore
import RequestGate

/// An HTTP/2 connection: carries several exchanges at a time, each on a stream of its own (RFC 9113).
///
/// Frames, field compression, the states of streams and the flow control of what is sent are those of NIOHTTP2Handler.
/// Streams are objects of this type rather than channels, so that a request costs little, and its place is free as soon
/// as its stream is closed, however early it was cancelled.
///
/// Unchecked, because it is confined to its event loop, which each entry checks.
final class HTTP2Connection: ChannelInboundHandler, RemovableChannelHandler, SocketConnection, DeadlineOwner,
    @unchecked Sendable
{
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let id: Int
    private let settings: HTTP2ClientSettings
    private let owner: any HTTPConnectionOwner
    private let loop: any EventLoop
    private let idleTimeout: Duration?
    private lazy var idleTimer = DeadlineTimer(self, loop)
    private let output: HTTP2Output
    private let windows: HTTP2ReceiveWindows
    private var streams: HTTP2StreamTable
    var isFollowed = false

    /// Whether it is closed after its last stream.
    private var isDraining = false
    private(set) var allowsExtendedConnect = false
    /// The last GOAWAY frame of the server.
    private var goAway: HTTP2GoAway?
    /// The stream that the library has reset because of what was received, until it reports the error.
    private var faulted: HTTP2Stream?
    /// The last error of streams that the library resets as soon as the channel is writable, and names only then.
    private var postponed: (any Error)?
    /// The streams whose response has ended in this read, unless the library had closed them before.
    private var answered: [HTTP2Stream] = []
    private(set) var lastByte = NIODeadline.now()
    /// Whether a PING frame was sent whose response has not been received.
    private var isProbing = false
    /// Whether no exchange starts before that response, because another one has timed out.
    private var isCheckingLiveness = false
    /// The period in which nothing was received and cancelled requests waited, one after the other.
    ///
    /// It is over if ``lastByte`` is later than its start.
    private var silence = (start: NIODeadline.distantPast, end: NIODeadline.distantPast)

    init(
        _ id: Int,
        _ owner: any HTTPConnectionOwner,
        on loop: any EventLoop,
        _ settings: HTTP2ClientSettings,
        idleTimeout: Duration?
    ) {
        self.id = id
        self.owner = owner
        self.loop = loop
        self.settings = settings
        self.idleTimeout = idleTimeout
        output = .init(on: loop)
        windows = .init(output, on: loop, streamWindow: settings.streamWindow)
        streams = .init(firstStream: settings.firstStream)
    }

    func install(in channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandlers([settings.makeHandler(), self])
    }

    var channel: (any Channel)? { output.channel }

    var isClosed: Bool { output.isClosed }

    // MARK: Exchanges

    var isMultiplexed: Bool { true }

    var isReused: Bool { streams.startedCount > 1 }

    var capacity: Int { isClosed || isCheckingLiveness ? 0 : streams.capacity }

    func isWritable(for exchange: any HTTPExchange) -> Bool {
        guard !isClosed, let stream = streams[exchange] else { return false }
        return stream.unwrittenBytes < HTTP2ClientSettings.maximumUnwrittenBytes
    }

    func unwrittenBytes(of exchange: any HTTPExchange) -> Int {
        streams[exchange]?.unwrittenBytes ?? 0
    }

    func start(_ exchange: any HTTPExchange) -> Bool {
        loop.preconditionInEventLoop()
        guard output.channel != nil, capacity > 0 else { return false }
        idleTimer.deadlines[.idle] = nil
        streams.start(exchange, window: settings.streamWindow)
        return true
    }

    func withdraw(_ exchange: any HTTPExchange) {
        guard let stream = detach(exchange) else { return }
        free(stream)
    }

    func send(
        _ part: HTTPClientRequestPart,
        for exchange: any HTTPExchange,
        flushes: Bool,
        promise: EventLoopPromise<Void>?
    ) {
        guard !isClosed, let stream = streams[exchange], !stream.isClosed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch part {
        case .head(let head):
            guard !isDraining else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return fail(stream, .unprocessed(goAway))
            }
            stream.isTunnel = head.tunnelProtocol != nil
            stream.unsent = .head(.init(head, isSecure: settings.isSecure))
            promise?.succeed()
        case .body(.byteBuffer(let bytes)):
            writeUnsent(of: stream)
            stream.unsent = .body(bytes, promise)
        case .body(.fileRegion):
            promise?.fail(ChannelError.operationUnsupported)
        case .end:
            writeEnd(of: stream, promise)
            // The library has to know of it before the server's end is processed, after which the stream would be reset.
            if stream.isTunnel { output.flush() }
            return
        }
        if flushes { writeUnsent(of: stream) }
    }

    func setReading(_ isReading: Bool, for exchange: any HTTPExchange) {
        guard let stream = streams[exchange], stream.isReading != isReading else { return }
        stream.isReading = isReading
        while stream.isReading, stream.exchange === exchange, let part = stream.takeHeldPart() {
            deliver(part, to: stream)
        }
        guard stream.isReading, stream.exchange === exchange else { return }
        if let failure = stream.takeHeldFailure() { return fail(stream, failure) }
        windows.returnWindow(of: stream)
    }

    func cancel(_ exchange: any HTTPExchange) {
        loop.preconditionInEventLoop()
        guard let stream = detach(exchange) else { return }
        exchange.connectionHasEnded()
        reset(stream)
        free(stream)
    }

    func releaseStream(of exchange: any HTTPExchange) -> (any UpgradedStream)? {
        loop.preconditionInEventLoop()
        guard !isClosed, let stream = streams[exchange], stream.isTunnel, !stream.isClosed else {
            return nil
        }
        let upgraded = HTTP2UpgradedStream(self, exchange.pathLossPolicy)
        streams.pass(stream, from: exchange, to: upgraded)
        stream.isReading = false
        return upgraded
    }

    /// Separates an exchange from its stream.
    private func detach(_ exchange: any HTTPExchange) -> HTTP2Stream? {
        let stream = streams.detach(exchange)
        // Not within the table's method: the failed promise may call this connection, which uses the table.
        stream?.dropUnsent()
        return stream
    }

    /// Resets a stream that is still open.
    private func reset(_ stream: HTTP2Stream) {
        guard !isClosed, !stream.isClosed, let id = stream.id else { return }
        stream.isClosed = true
        output.write(.init(streamID: id, payload: .rstStream(.cancel)))
    }

    /// Makes the place of a stream available that has no exchange, once it is closed.
    private func free(_ stream: HTTP2Stream) {
        guard stream.exchange == nil, streams.free(stream), !isClosed else { return }
        owner.connectionIsFree(self)
        becomeIdle()
    }

    // MARK: Sending

    /// Sends the part that was kept back.
    private func writeUnsent(of stream: HTTP2Stream) {
        guard let unsent = stream.unsent.take() else { return }
        switch unsent {
        case .head(let fields): writeHead(fields, of: stream, ends: false, nil)
        case .body(let bytes, let promise): writeBody(bytes, of: stream, ends: false, promise)
        }
    }

    /// Ends the request with the part that was kept back, or with an empty frame.
    private func writeEnd(of stream: HTTP2Stream, _ promise: EventLoopPromise<Void>?) {
        switch stream.unsent.take() {
        case .head(let fields)?: writeHead(fields, of: stream, ends: true, promise)
        case .body(let bytes, let earlier)?:
            if let earlier, let promise { earlier.futureResult.cascade(to: promise) }
            writeBody(bytes, of: stream, ends: true, earlier ?? promise)
        case nil: writeBody(ByteBuffer(), of: stream, ends: true, promise)
        }
    }

    private func writeHead(
        _ fields: HPACKHeaders,
        of stream: HTTP2Stream,
        ends: Bool,
        _ promise: EventLoopPromise<Void>?
    ) {
        let id = streams.number(stream)
        output.write(.init(streamID: id, payload: .headers(.init(headers: fields, endStream: ends))), promise)
        if !streams.hasNumbers { runOutOfNumbers() }
    }

    private func writeBody(
        _ bytes: ByteBuffer,
        of stream: HTTP2Stream,
        ends: Bool,
        _ promise: EventLoopPromise<Void>?
    ) {
        guard let id = stream.id else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let promise { stream.countUnwritten(bytes.readableBytes, until: promise) }
        output.write(.init(streamID: id, payload: .data(.init(data: .byteBuffer(bytes), endStream: ends))), promise)
    }

    // MARK: Receiving

    func handlerAdded(context: ChannelHandlerContext) {
        output.attach(to: context)
        if context.channel.isActive { windows.raiseConnectionWindow() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { output.attach(to: nil) }

    func channelActive(context: ChannelHandlerContext) {
        windows.raiseConnectionWindow()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        output.isInRead = true
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let section): receive(section, frame.streamID)
        case .data(let data): receive(data, frame.streamID)
        case .rstStream(let code): receiveReset(code, frame.streamID)
        case .goAway(let last, let code, let data): receiveGoAway(last, .init(code, data))
        case .settings(.settings(let settings)): receive(settings)
        case .ping(_, ack: true): pingWasAcknowledged()
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        output.isInRead = false
        lastByte = .now()
        if let stream = faulted.take() { fail(stream, .malformed("the stream had to be reset")) }
        for stream in answered { finish(stream) }
        answered.removeAll(keepingCapacity: true)
        output.flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let closed as StreamClosedEvent: streamWasClosed(closed.streamID, closed.reason)
        case let update as NIOHTTP2WindowUpdatedEvent: windows.changed(update, of: streams[update.streamID])
        case let created as NIOHTTP2StreamCreatedEvent: streams[created.streamID]?.isOpened = true
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // The library has reset all streams that it had to.
        if context.channel.isWritable { postponed = nil }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        lost(goAway.map { .ended($0) } ?? .lost(nil))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if windows.takeRefusal() { return }
        if let stream = faulted.take() { return fail(stream, .malformed(HTTP2Violation.text(of: error))) }
        if let error = error as? NIOHTTP2Errors.StreamError { return sendingFailed(error) }
        if !context.channel.isWritable, HTTP2Violation.concernsStream(error) {
            postponed = error
            return
        }
        guard error is any NIOHTTP2Error else { return lost(.lost(error)) }
        lost(.violated(error))
    }

    private func receive(_ section: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID) {
        guard let stream = streams[id], stream.exchange != nil else { return }
        stream.headSize += section.headers.size
        guard stream.headSize <= settings.maximumHeadSize else {
            return fail(stream, .headTooLarge(settings.maximumHeadSize))
        }
        guard !stream.hasHead else { return receiveEnd(stream, trailers: section.headers.fields) }
        guard let status = section.headers.status else {
            return fail(stream, .malformed("its status is not a three-digit number"))
        }
        let isInterim = status < 200
        guard status != 101, !isInterim || !section.endStream else {
            return fail(stream, .malformed("its status is \(status), which can't end it"))
        }
        let head = HTTPResponseHead(
            version: .http2Final,
            status: .init(statusCode: status),
            headers: section.headers.fields
        )
        if !isInterim {
            (stream.hasHead, stream.hasEnd) = (true, section.endStream)
            stream.headSize = 0
        }
        pass(.head(head), to: stream)
        if section.endStream { receiveEnd(stream, trailers: nil) }
    }

    private func receive(_ data: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID) {
        guard let stream = streams[id], stream.exchange != nil, case .byteBuffer(let bytes) = data.data else { return }
        // First, since the receiver may end its own direction, with which the stream is closed.
        if data.endStream { stream.hasEnd = true }
        if bytes.readableBytes > 0 { pass(.body(bytes), to: stream) }
        if data.endStream { receiveEnd(stream, trailers: nil) }
    }

    private func receiveEnd(_ stream: HTTP2Stream, trailers: HTTPHeaders?) {
        stream.hasEnd = true
        pass(.end(trailers), to: stream)
    }

    /// Passes a part to the exchange, or keeps it while the exchange does not read.
    private func pass(_ part: HTTPClientResponsePart, to stream: HTTP2Stream) {
        if stream.holds { stream.hold(part) } else { deliver(part, to: stream) }
    }

    private func deliver(_ part: HTTPClientResponsePart, to stream: HTTP2Stream) {
        guard let exchange = stream.exchange else { return }
        exchange.receive(part)
        // The end may have been invalid, in which case the exchange has cancelled itself.
        guard case .end = part, stream.exchange === exchange else { return }
        _ = detach(exchange)
        guard output.isInRead, !stream.isClosed else { return finish(stream) }
        answered.append(stream)
    }

    /// Ends a stream whose response has ended: what is left of the request is of no use to the server.
    private func finish(_ stream: HTTP2Stream) {
        reset(stream)
        free(stream)
    }

    private func streamWasClosed(_ id: HTTP2StreamID, _ reason: HTTP2Code?) {
        guard let stream = streams[id] else { return }
        stream.isClosed = true
        if stream.exchange != nil, !stream.hasEnd, stream.held?.failure == nil { noteFault(of: stream) }
        free(stream)
    }

    private func noteFault(of stream: HTTP2Stream) {
        guard let postponed else {
            faulted = stream
            return
        }
        fail(stream, .malformed(HTTP2Violation.text(of: postponed)))
    }

    /// Fails an exchange, after it has received what was kept for it.
    private func fail(_ stream: HTTP2Stream, _ failure: HTTP2StreamFailure) {
        guard !stream.holds else { return stream.hold(failure) }
        if case .lost(let cause) = failure {
            stream.exchange?.connectionWasLost(cause, hasResponseBegun: stream.hasHead)
            return
        }
        let isUpgraded = stream.exchange is HTTP2UpgradedStream
        stream.exchange?.exchangeFailed(
            failure.error(hasHead: stream.hasHead, isUpgraded: isUpgraded, at: settings.host),
            isUnprocessed: failure.isUnprocessed && !stream.hasHead
        )
    }

    private func receiveReset(_ code: HTTP2Code, _ id: HTTP2StreamID) {
        guard let stream = streams[id], !stream.hasEnd else { return }
        stream.isClosed = true
        if code == .http11Required {
            owner.connectionRequiresHTTP1(self)
            acceptNoMore()
        }
        fail(stream, .reset(code))
    }

    /// Fails a request that the library refuses to send.
    private func sendingFailed(_ error: NIOHTTP2Errors.StreamError) {
        guard let stream = streams[error.streamID] else { return }
        stream.isClosed = true
        fail(stream, .unsendable(error.baseError))
    }

    // MARK: The connection's limits

    private func receive(_ settings: HTTP2Settings) {
        // The library ends the connection of a server that withdraws it (RFC 8441, 3).
        if settings.contains(where: { $0.parameter == .enableConnectProtocol && $0.value == 1 }) {
            allowsExtendedConnect = true
        }
        guard let setting = settings.last(where: { $0.parameter == .maxConcurrentStreams }), !isDraining, !isClosed
        else { return }
        streams.limit = min(setting.value, HTTP2ClientSettings.maximumStreamLimit)
        if !isCheckingLiveness { owner.connectionLimitChanged(self, to: streams.limit, isFinal: false) }
    }

    /// Starts no more streams, and closes the connection after the last one.
    private func acceptNoMore() {
        isDraining = true
        streams.limit = 0
        owner.connectionLimitChanged(self, to: 0, isFinal: true)
        becomeIdle()
    }

    /// Ends the use of the connection, whose stream numbers can't be used again (RFC 9113, 5.1.1).
    ///
    /// A request whose head still waits for its body needs another connection.
    private func runOutOfNumbers() {
        acceptNoMore()
        for stream in streams.unnumbered {
            stream.isClosed = true
            fail(stream, .unnumbered)
        }
    }

    /// Ends the use of the connection: the server processes no streams after the last one (RFC 9113, 6.8).
    private func receiveGoAway(_ last: HTTP2StreamID, _ end: HTTP2GoAway) {
        guard !isClosed else { return }
        goAway = end
        let dropped = streams.dropped(after: last)
        for stream in dropped {
            // The library must not send a head that still waits: after GOAWAY, it is an error of the connection.
            if !stream.isOpened { reset(stream) }
            stream.isClosed = true
        }
        acceptNoMore()
        for stream in dropped { fail(stream, stream.hasHead ? .ended(end) : .unprocessed(end)) }
    }

    // MARK: The end

    func becomeIdle() {
        guard streams.isEmpty, !isClosed else { return }
        guard !isDraining, !owner.isClosing else { return close() }
        let now = NIODeadline.now()
        idleTimer.set(.idle, after: idleTimeout, from: now)
        idleTimer.schedule(at: now)
    }

    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline) {
        if kind == .read { checkSilence(at: now) } else if streams.isEmpty { close() }
    }

    /// Fails the exchanges of a connection that was lost or has to be closed.
    private func lost(_ failure: HTTP2StreamFailure, inOrder: Bool = true) {
        end(inOrder: inOrder) { [self] stream in
            if !stream.hasEnd { fail(stream, stream.isOpened ? failure : .unprocessed(goAway)) }
        }
    }

    func close() {
        loop.preconditionInEventLoop()
        let isIdle = streams.isEmpty
        if isIdle, !isClosed {
            output.write(
                .init(
                    streamID: .rootStream,
                    payload: .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
                )
            )
            output.flush()
        }
        end(inOrder: isIdle) { [self] stream in
            if let exchange = stream.exchange, detach(exchange) != nil { exchange.connectionHasEnded() }
        }
    }

    /// Closes the connection, and calls a closure for each stream with an exchange.
    private func end(
        inOrder: Bool,
        after restoration: EventLoopFuture<Void>? = nil,
        _ body: (HTTP2Stream) -> Void
    ) {
        guard !isClosed else { return }
        idleTimer.cancel()
        let remaining = streams.carrying
        output.close(inOrder: inOrder, after: restoration)
        owner.connectionWasClosed(self, whileBusy: !remaining.isEmpty)
        for stream in remaining { body(stream) }
    }
}

extension HTTP2Connection {
    /// The least patient policy of its exchanges, since all of them share its path.
    var pathLossPolicy: PathLossPolicy? {
        streams.carrying.compactMap { $0.exchange?.pathLossPolicy }.min { $0.isLessPatient(than: $1) }
    }

    func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?) {
        end(inOrder: false, after: restoration) { stream in
            if !stream.hasEnd { stream.exchange?.pathWasLost(loss) }
        }
    }

    /// Sends a PING frame, so that a connection that works receives something.
    func probe() {
        guard !isProbing, !isClosed else { return }
        isProbing = true
        output.write(.init(streamID: .rootStream, payload: .ping(.init(), ack: false)))
    }
}

extension HTTP2Connection {
    func checkLiveness() {
        guard !isCheckingLiveness, !isClosed else { return }
        isCheckingLiveness = true
        probe()
        limitSilence(from: .now())
        owner.connectionLimitChanged(self, to: 0, isFinal: isDraining)
    }

    func checkLiveness(ifSilentSince time: NIODeadline) { if lastByte <= time { checkLiveness() } }

    /// Checks the connection only after some silence: an early cancellation is no sign that it is dead.
    func checkLiveness(beforeCancelling exchange: any HTTPExchange, at now: NIODeadline) {
        // No response follows a request that is still being sent, and the server may not send to a stream that is not read.
        guard !isCheckingLiveness, !output.isInRead, let stream = streams[exchange], stream.id != nil, stream.isReading,
            stream.unsent == nil, stream.unwrittenBytes == 0
        else { return }
        let (start, limit) = (max(lastByte, exchange.lastActivity), TimeAmount(settings.silenceBeforeCancellation))
        // Requests that are cancelled early, shortly one after the other, have waited in the same silence.
        if silence.start < lastByte || silence.start > start || silence.end + limit < start { silence.start = start }
        silence.end = now
        if silence.start + limit <= now { checkLiveness() }
    }

    private func limitSilence(from start: NIODeadline) {
        idleTimer.set(.read, after: settings.maximumSilence, from: start)
        idleTimer.schedule(at: .now())
    }

    /// Closes the connection unless a byte was received meanwhile: the acknowledgement may follow a long response.
    private func checkSilence(at now: NIODeadline) {
        guard isCheckingLiveness, !isClosed else { return }
        guard lastByte + .init(settings.maximumSilence) <= now else { return limitSilence(from: lastByte) }
        let reason = "the server has not responded to a PING frame"
        lost(.lost(IOError(errnoCode: ETIMEDOUT, reason: reason)), inOrder: false)
    }

    private func pingWasAcknowledged() {
        isProbing = false
        guard isCheckingLiveness else { return }
        isCheckingLiveness = false
        idleTimer.deadlines[.read] = nil
        if !isDraining { owner.connectionLimitChanged(self, to: streams.limit, isFinal: false) }
        becomeIdle()
    }
}

extension PathLossPolicy {
    /// Whether a connection is given up earlier than with another policy.
    fileprivate func isLessPatient(than other: Self) -> Bool { grace < other.grace }

    private var grace: Duration {
        switch self {
        case .failFast: RunningTable.defaultGrace
        case .waitInFlight(let grace): grace
        }
    }
}
