import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore

/// An HTTP/1.1 connection: carries one exchange at a time (RFC 9112).
///
/// Unchecked, because it is confined to its event loop, which each entry checks.
final class HTTP1Connection: ChannelInboundHandler, RemovableChannelHandler, SocketConnection, DeadlineOwner,
    ResponseReceiver, @unchecked Sendable
{
    /// Nothing: the decoder passes the parts of responses to ``receive(_:)``.
    typealias InboundIn = Never

    let id: Int
    private let owner: any HTTPConnectionOwner
    private let loop: any EventLoop
    private let idleTimeout: Duration?
    private lazy var idleTimer = DeadlineTimer(self, loop)
    private var encoder = RequestEncoder()
    private let decoder: ResponseDecoder
    private var context: ChannelHandlerContext?
    private var life = ConnectionState()
    private var exchange: (any HTTPExchange)?
    /// Whether the response is complete, but the connection not free yet: unsolicited bytes may still follow.
    private var responseHasEnded = false
    private var isReading = true
    /// The return of a path, before which the channel is not closed; nil unless the path is lost.
    private var restoration: EventLoopFuture<Void>?
    /// The parts that were received while reading was stopped: when the server closes the connection, the channel reads up to the
    /// end regardless.
    private var held = Held()

    /// Parts and the loss of the connection, received while reading was stopped.
    private struct Held {
        var parts = CircularBuffer<HTTPClientResponsePart>()
        var isLost = false
        var cause: (any Error)?
    }

    init(
        _ id: Int,
        _ owner: any HTTPConnectionOwner,
        on loop: any EventLoop,
        maximumHeadSize: Int,
        idleTimeout: Duration?
    ) {
        self.id = id
        self.owner = owner
        self.loop = loop
        self.idleTimeout = idleTimeout
        decoder = .init(maximumHeadSize: maximumHeadSize)
    }

    func install(in channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandlers([decoder, self])
        decoder.receiver = self
    }

    var channel: (any Channel)? { context?.channel }

    var isFollowed = false

    var isClosed: Bool { life.isClosed }

    // MARK: Exchanges

    var capacity: Int { life.isBusy || life.isClosed ? 0 : 1 }

    var isReused: Bool { life.isReused }

    func isWritable(for exchange: any HTTPExchange) -> Bool { context?.channel.isWritable ?? false }

    func unwrittenBytes(of exchange: any HTTPExchange) -> Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    func start(_ exchange: any HTTPExchange) -> Bool {
        loop.preconditionInEventLoop()
        guard context != nil, life.begin() else { return false }
        idleTimer.deadlines[.idle] = nil
        self.exchange = exchange
        return true
    }

    func withdraw(_ exchange: any HTTPExchange) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        life.requestSent()
        _ = life.receivedHead(keepsAlive: true)
        _ = life.ended()
        owner.connectionIsFree(self)
        becomeIdle()
    }

    func send(
        _ part: HTTPClientRequestPart,
        for exchange: any HTTPExchange,
        flushes: Bool,
        promise: EventLoopPromise<Void>?
    ) {
        guard let context, self.exchange === exchange else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch part {
        case .head(let head):
            decoder.expectResponse(to: head)
            context.write(NIOAny(encoder.encode(head)), promise: promise)
        case .body(let piece): write(piece, context, promise)
        case .end(let trailers):
            noteSent(exchange, promise)
            // A promise is fulfilled after those of what was written before.
            if let bytes = encoder.encodeEnd(trailers) ?? promise.map({ _ in ByteBuffer() }) {
                context.write(NIOAny(bytes), promise: promise)
            }
        }
        if flushes { context.flush() }
    }

    private func write(_ piece: IOData, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        guard let frame = encoder.frame(of: piece) else { return context.write(NIOAny(piece), promise: promise) }
        context.write(NIOAny(frame.start), promise: nil)
        context.write(NIOAny(piece), promise: nil)
        context.write(NIOAny(frame.end), promise: promise)
    }

    /// Marks the request as sent when its end was written, or, with a promise, when the kernel has accepted it.
    private func noteSent(_ exchange: any HTTPExchange, _ promise: EventLoopPromise<Void>?) {
        guard let promise else { return life.requestSent() }
        promise.futureResult.assumeIsolated().whenSuccess { [self] in
            if self.exchange === exchange { life.requestSent() }
        }
    }

    func setReading(_ isReading: Bool, for exchange: any HTTPExchange) {
        guard self.exchange === exchange, self.isReading != isReading else { return }
        self.isReading = isReading
        guard isReading else { return setAutoRead(false) }
        while self.isReading, !held.parts.isEmpty, !life.isClosed { receive(held.parts.removeFirst()) }
        guard self.isReading, !life.isClosed else { return }
        // First, so that no other exchange starts on it.
        guard !held.isLost else { return lost(held.cause) }
        setAutoRead(true)
        settle()
    }

    private func setAutoRead(_ reads: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    func cancel(_ exchange: any HTTPExchange) {
        loop.preconditionInEventLoop()
        if self.exchange === exchange { close() }
    }

    func releaseStream(of exchange: any HTTPExchange) -> (any UpgradedStream)? {
        loop.preconditionInEventLoop()
        guard self.exchange === exchange, !held.isLost, let channel = context?.channel, !life.isClosed else {
            return nil
        }
        let pipeline = channel.pipeline.syncOperations
        guard let forward = try? decoder.leave(pipeline) else { return nil }
        self.exchange = nil
        life.close()
        idleTimer.cancel()
        pipeline.removeHandler(self, promise: nil)
        owner.connectionWasClosed(self, whileBusy: true)
        return UpgradedChannel(channel, forward: forward)
    }

    // MARK: Receiving

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelReadComplete(context: ChannelHandlerContext) {
        settle()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isReading { lost(nil) } else { held.isLost = true }
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        exchange?.connectionIsWritable()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isReading else { return lost(error) }
        held.isLost = true
        held.cause = held.cause ?? error
    }

    func receive(_ part: HTTPClientResponsePart) {
        guard isReading else {
            // After an error, an end that the decoder finds is only that of the connection.
            if !held.isLost { held.parts.append(part) }
            return
        }
        guard let exchange else { return close() }
        switch part {
        case .head(let head): receive(head, exchange)
        case .body: exchange.receive(part)
        case .end:
            exchange.receive(part)
            // The end may have been invalid, in which case the exchange has closed the connection.
            guard self.exchange === exchange else { return }
            self.exchange = nil
            responseHasEnded = true
        }
    }

    private func receive(_ head: HTTPResponseHead, _ exchange: any HTTPExchange) {
        let status = head.status.code
        guard status != 101 else { return exchange.receiveSwitch(head) }
        let isInterim = (100...199).contains(status)
        guard isInterim || life.receivedHead(keepsAlive: keepsAlive(after: head, exchange)) else {
            return exchange.receiveUnexpected()
        }
        exchange.receive(.head(head))
    }

    /// Whether the connection can carry another exchange.
    ///
    /// A proxy that asks for credentials may respond before it has read the body, and discard the rest, as squid does.
    private func keepsAlive(after head: HTTPResponseHead, _ exchange: any HTTPExchange) -> Bool {
        head.keepsConnection && !head.hasFaultyFraming && (head.status.code != 407 || !exchange.hasRequestBody)
    }

    private func lost(_ cause: (any Error)?) {
        guard let exchange else { return close() }
        exchange.connectionWasLost(cause, hasResponseBegun: decoder.hasBegun)
    }

    // MARK: Between exchanges

    /// Makes the connection available for the next exchange, after checking that nothing followed the response.
    ///
    /// Bytes that arrive with the end of the response are unsolicited; the next request would mistake them for its
    /// response.
    private func settle() {
        guard responseHasEnded, !life.isClosed else { return }
        responseHasEnded = false
        switch life.ended() {
        case .reuse:
            owner.connectionIsFree(self)
            becomeIdle()
        case .close: closeAfterResponse()
        }
    }

    func becomeIdle() {
        guard !life.isBusy, !life.isClosed else { return }
        guard !owner.isClosing else { return close() }
        let now = NIODeadline.now()
        idleTimer.set(.idle, after: idleTimeout, from: now)
        idleTimer.schedule(at: now)
    }

    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline) { if !life.isBusy { close() } }

    /// Closes the connection after a response: the server announced that, or did not read the whole request.
    private func closeAfterResponse() {
        idleTimer.cancel()
        shut(inOrder: true)
        owner.connectionWasClosed(self, whileBusy: true)
    }

    func close() {
        loop.preconditionInEventLoop()
        guard !life.isClosed else { return }
        let wasBusy = life.isBusy
        life.close()
        let exchange = exchange
        self.exchange = nil
        held = .init()
        exchange?.connectionHasEnded()
        idleTimer.cancel()
        shut(inOrder: !wasBusy)
        owner.connectionWasClosed(self, whileBusy: wasBusy)
    }

    private func shut(inOrder: Bool) {
        guard let restoration, context?.channel.isActive == true else {
            context?.shut(inOrder: inOrder)
            return
        }
        setAutoRead(false)
        restoration.assumeIsolated().whenComplete { [self] _ in context?.shut(inOrder: inOrder) }
    }
}

extension HTTP1Connection {
    var pathLossPolicy: PathLossPolicy? { exchange?.pathLossPolicy }

    var lastByte: NIODeadline { exchange?.lastActivity ?? .now() }

    func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?) {
        self.restoration = restoration
        if let exchange { exchange.pathWasLost(loss) } else { close() }
    }
}

extension HTTPResponseHead {
    /// Whether the server keeps the connection open after the response (RFC 9112, 9.3).
    ///
    /// Allocates nothing.
    fileprivate var keepsConnection: Bool {
        var keeps = version != .http1_0
        for (name, value) in headers where name.utf8.isEqualIgnoringCase("connection".utf8) {
            if value.utf8.listContains("close".utf8) { return false }
            keeps = keeps || value.utf8.listContains("keep-alive".utf8)
        }
        return keeps
    }

    /// Whether an HTTP/1.0 server uses transfer codings, which that version does not have (RFC 9112, 6.1).
    fileprivate var hasFaultyFraming: Bool { version == .http1_0 && headers.contains(name: "Transfer-Encoding") }
}

/// Encodes the requests of a connection as HTTP/1.1 (RFC 9112, sections 3, 5 and 7.1).
///
/// The fields are sent unchanged: they contain the length of the body, or that it is chunked. Unlike NIO's encoder, it passes
/// buffers to the channel, not parts, and uses the memory of a head again for the next one.
struct RequestEncoder {
    /// The memory of the last head.
    private var memory = ByteBuffer()
    /// Whether the body of the request is chunked.
    private var isChunked = false

    /// Returns the bytes of a head.
    mutating func encode(_ head: HTTPRequestHead) -> ByteBuffer {
        isChunked = head.headers.isChunked
        let size = head.encodedSize
        memory.clear(minimumCapacity: size)
        memory.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { target in
            var bytes = HeadBytes(target: target)
            bytes.write(head)
            return bytes.count
        }
        return memory
    }

    /// Returns what is sent before and after a piece of the body; nil for nothing.
    func frame(of piece: IOData) -> (start: ByteBuffer, end: ByteBuffer)? {
        // A chunk without bytes would be the end of the body.
        guard isChunked, piece.readableBytes > 0 else { return nil }
        return (.init(string: String(piece.readableBytes, radix: 16) + "\r\n"), .init(string: "\r\n"))
    }

    /// Returns the bytes of the end; nil if there are none.
    func encodeEnd(_ trailers: HTTPHeaders?) -> ByteBuffer? {
        guard isChunked else { return nil }
        guard let trailers else { return .init(string: "0\r\n\r\n") }
        return .init(string: "0\r\n" + trailers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n")
    }
}

/// Writes a head into memory that has space for it.
private struct HeadBytes {
    let target: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(target: UnsafeMutableRawBufferPointer) { self.target = target }

    mutating func write(_ head: HTTPRequestHead) {
        write(head.method.rawValue)
        write(" ")
        write(head.uri)
        write(" HTTP/1.1\r\n")
        for (name, value) in head.headers {
            write(name)
            write(": ")
            write(value)
            write("\r\n")
        }
        write("\r\n")
    }

    private mutating func write(_ text: String) {
        let rest = UnsafeMutableRawBufferPointer(rebasing: target[count...])
        rest.copyBytes(from: text.utf8)
        count += text.utf8.count
    }
}

extension HTTPRequestHead {
    /// The number of bytes of the start line and the fields, with their ends.
    fileprivate var encodedSize: Int {
        var size = method.rawValue.utf8.count + uri.utf8.count + " ".utf8.count + " HTTP/1.1\r\n".utf8.count
        for (name, value) in headers { size += name.utf8.count + value.utf8.count + ": \r\n".utf8.count }
        return size + "\r\n".utf8.count
    }
}

extension HTTPHeaders {
    /// Whether they say that the body is chunked.
    fileprivate var isChunked: Bool {
        contains { name, _ in name.utf8.isEqualIgnoringCase("transfer-encoding".utf8) }
    }
}
