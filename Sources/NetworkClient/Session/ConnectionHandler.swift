import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// An HTTP/1.1 connection: sends one request at a time and puts its answer together.
///
/// Unchecked, because it is touched on its event loop only.
final class ConnectionHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    let id: Int
    let host: HostConnections
    var record: ConnectionRecord?
    var life = ConnectionLife()
    var exchange: Exchange?
    /// When the last byte of a body came, or the request was sent.
    var lastByte = NIODeadline.now()
    var isFollowed = false
    /// Whether pieces are being asked for.
    var isInFeed = false
    /// Whether asking goes on when others have had their turn.
    var isFeedDue = false
    /// Whether nothing more is read until who takes the body can take more, or the user resumes.
    var isReadingHeld = false
    /// Whether what comes is kept until the user resumes the request, or its taker can take more.
    var isHolding = false
    /// What came since then: at the server's end of the connection the channel reads to that end, asked or not.
    var held = Held()
    /// Whether the present answer is whole, and the connection is not released yet.
    var answerHasEnded = false
    var deadlines = Deadlines()
    var timer: Scheduled<Void>?
    var timerDue = Int64.max
    private(set) var context: ChannelHandlerContext?
    private let decoder: ResponseDecoder

    init(_ id: Int, _ host: HostConnections) {
        self.id = id
        self.host = host
        decoder = .init(maximumHeadSize: host.core.configuration.maximumHeadSize)
    }

    /// Whether the channel is open.
    var isActive: Bool { context?.channel.isActive ?? false }

    /// Puts what speaks HTTP/1.1 into a channel.
    func install(in channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandlers([HTTPRequestEncoder(), decoder, self])
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// What came while it could not be taken.
    struct Held {
        var parts: [HTTPClientResponsePart] = []
        var isLost = false
        var cause: (any Error)?
    }

    /// What is under way on the connection.
    struct Exchange {
        let handle: RequestHandle
        var head: HTTPResponseHead?
        var assembly: BodyAssembly
        /// Gives the request's body, if it is not in memory and not all given.
        var feed: (any BodyFeed)?
        /// Whether the feed was asked and has not answered.
        var isFeeding = false
        /// How many pieces of the body wait for the kernel.
        var piecesUnderWay = 0
        /// Takes the answer's body, if it is for it.
        var receiver: (any BodyReceiver)?
        /// Whether the receiver can take no more for the moment.
        var isTakerBusy = false
        /// Whether the user has paused the request.
        var isPaused = false
        /// Whether the answer leads elsewhere, and its body is nobody's.
        var isPassedOver = false
        /// Whether another request most likely follows the response, whatever its body says.
        var isLikelyFollowed = false
        /// Whether the body waits for the server's leave.
        var isBodyHeld = false
        /// Whether the kernel has taken anything since the write deadline was set.
        var writing = WriteProgress()
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isHolding { held.parts.append(part) } else { received(part) }
    }

    func received(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head): received(head)
        case .body(let bytes): received(bytes)
        case .end: receivedEnd()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        settle()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isHolding { held.isLost = true } else { lost(nil) }
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        feed()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard isHolding else { return lost(error) }
        held.isLost = true
        held.cause = held.cause ?? error
    }

    // MARK: The end of the connection

    /// The connection was lost, or what came on it is not HTTP.
    func lost(_ cause: (any Error)?) {
        guard let exchange else { return close() }
        let error = HTTPError.lost(cause, hasHead: exchange.head != nil, at: exchange.handle.current.endpoint.text)
        failExchange(error, isLoss: error.code == .connectionLost && !decoder.hasBegun)
    }

    /// Ends the exchange and the connection with it.
    func failExchange(_ error: HTTPError, isLoss: Bool = false) {
        guard let exchange else { return close() }
        if exchange.isPassedOver { return leavePassedOver() }
        var error = error
        if let head = exchange.head {
            error.response = .init(head)
            error.body = exchange.assembly.prefix(HTTPError.keptBody)
        }
        exchange.handle.run.place = .nowhere
        close()
        host.core.fail(exchange.handle, error, isLoss: isLoss)
    }

    /// Closes the connection under a request that is wanted no more.
    func abandon() { close() }

    /// Closes the connection, whatever it does; once.
    func close() {
        guard !life.isClosed else { return }
        let wasBusy = life.isBusy
        life.close()
        dropExchange()
        timer?.cancel()
        timer = nil
        shut(inOrder: !wasBusy)
        host.closed(self, whileBusy: wasBusy)
    }
}

extension ConnectionHandler {
    /// How long a server may take to give leave for a body, until it is sent without (RFC 9110, 10.1.1).
    private static let continueWait = Duration.seconds(1)
    /// A body from this size on may not fit the kernel's buffers at once.
    private static let largeBody = 32_768

    /// Sends a request, unless it is wanted no more.
    func send(_ handle: RequestHandle) {
        guard let context, life.begin() else { return host.sendElsewhere(handle) }
        guard handle.run.life.assigned(isReused: life.isReused) else { return giveBack() }
        let now = NIODeadline.now()
        handle.run.place = .connection(self)
        handle.noteState()
        lastByte = now
        handle.run.timer?.cancel()
        handle.run.timer = nil
        handle.run.metrics.assigned = now
        handle.run.metrics.connection = record
        handle.run.metrics.isReused = life.isReused
        handle.run.metrics.attempts = handle.run.life.attempts
        if host.core.isObserved(handle) { tellOfAttempt(handle) }
        exchange = .init(handle: handle, assembly: .init(limit: handle.current.maximumBodySize))
        guard prepareBodies(handle) else { return }
        context.write(wrapOutboundOut(.head(addressed(head(of: handle), handle))), promise: nil)
        handle.run.life.sent()
        deadlines[.total] = handle.deadline.map(Instant.init)
        deadlines[.idle] = nil
        if handle.current.expectsContinue, handle.current.hasBody {
            holdBody(now)
            context.flush()
        } else {
            sendBody(context, now)
        }
        arm(now)
    }

    private func tellOfAttempt(_ handle: RequestHandle) {
        let attempt = handle.run.life.attempts
        let connection = record?.metrics ?? .init()
        host.core.tell(.attempt(attempt, isReused: life.isReused, connection: connection), handle)
    }

    /// The request ended before it was sent: the connection serves the next.
    func giveBack() {
        life.requestSent()
        _ = life.answered(keepsAlive: true)
        _ = life.ended()
        host.released(self)
    }

    /// Keeps the body until the server gives leave, or has said nothing for long enough.
    func holdBody(_ now: NIODeadline) {
        exchange?.isBodyHeld = true
        deadlines[.firstByte] = Instant(now).advanced(by: Self.continueWait)
    }

    /// Sends the body, now that the server wants it or has said nothing for long enough.
    func releaseBody(_ now: NIODeadline) {
        guard let context, let exchange, exchange.isBodyHeld else { return }
        self.exchange?.isBodyHeld = false
        do throws(HTTPError) {
            try openFeed(exchange.handle)
        } catch {
            return failExchange(.unavailableBody(error, .maybeProcessed))
        }
        sendBody(context, now)
        arm(now)
    }

    private func sendBody(_ context: ChannelHandlerContext, _ now: NIODeadline) {
        guard let handle = exchange?.handle else { return }
        guard exchange?.feed == nil else {
            deadlines[.firstByte] = nil
            return feed()
        }
        guard let body = handle.current.body, body.readableBytes > 0 else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return wasSent(handle, now)
        }
        handle.run.metrics.bodyBytesSent = body.readableBytes
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        guard body.readableBytes >= Self.largeBody else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return wasSent(handle, now)
        }
        deadlines[.firstByte] = nil
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in
            guard exchange?.handle === handle else { return }
            deadlines[.write] = nil
            let now = NIODeadline.now()
            wasSent(handle, now)
            arm(now)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        watchWriting(now)
    }

    func wasSent(_ handle: RequestHandle, _ now: NIODeadline) {
        life.requestSent()
        if exchange?.head == nil { deadlines[.firstByte] = due(handle.current.limits.firstByte, now) }
        guard host.core.isObserved(handle) else { return }
        if let body = handle.current.body {
            host.core.tell(.sending(bytes: body.readableBytes, of: Int64(body.readableBytes)), handle)
        }
        host.core.tell(.sent, handle)
    }

    /// How often it is looked whether the kernel takes what is to be written: its buffers grow a little after the first
    /// bytes, which is not to give a server that reads nothing its whole time again.
    private static let writeCheckInterval = Duration.seconds(1)

    /// Begins to watch whether the kernel takes some of what is to be written in time.
    func watchWriting(_ now: NIODeadline) {
        exchange?.writing.begin(rest: unwritten, at: Instant(now))
        checkWriting(now)
    }

    /// Looks whether the kernel has taken some of what is to be written in time.
    func checkWriting(_ now: NIODeadline) {
        guard let limit = exchange?.handle.current.limits.write,
            let last = exchange?.writing.check(rest: unwritten, at: Instant(now))
        else { return }
        let end = last.advanced(by: limit)
        guard Instant(now) < end else { return failWriting() }
        deadlines[.write] = min(end, Instant(now).advanced(by: min(Self.writeCheckInterval, limit / 4)))
    }

    /// How many bytes wait for the kernel.
    var unwritten: Int { (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    func due(_ limit: Duration?, _ now: NIODeadline) -> Instant? { limit.map { Instant(now).advanced(by: $0) } }
}

extension Instant {
    init(_ deadline: NIODeadline) {
        self.init(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    }
}

/// Sending bodies that are not in memory.
extension ConnectionHandler {
    /// Opens what the request's body comes from, but for one that waits for the server's leave.
    ///
    /// - Returns: Whether the request can be sent; if not, it has failed and the connection serves the next.
    func prepareBodies(_ handle: RequestHandle) -> Bool {
        exchange?.receiver = nil
        guard handle.current.source != nil else { return true }
        do throws(HTTPError) {
            guard handle.canGoAgain else { throw .notReplayable(at: handle.current.endpoint.text) }
            if !handle.current.expectsContinue { try openFeed(handle) }
            return true
        } catch {
            handle.run.place = .nowhere
            exchange = nil
            giveBack()
            host.core.fail(handle, .unavailableBody(error, .neverSent))
            return false
        }
    }

    /// Begins to read the request's body, if it is not in memory.
    func openFeed(_ handle: RequestHandle) throws(HTTPError) {
        guard let source = handle.current.source else { return }
        exchange?.feed = try source.makeFeed(host.core.loop)
        handle.extras.wasBodyRead = true
    }

    /// The head as it goes out in this attempt.
    func head(of handle: RequestHandle) -> HTTPRequestHead {
        let receiver = handle.run.extras?.receiver
        let login = handle.current.login
        guard receiver != nil || login != nil else { return handle.current.head }
        var head = handle.current.head
        receiver?.willSend(&head)
        if let login { host.core.authenticator.willSend(&head, handle, login) }
        return head
    }

    /// How many bytes are sent before others who live on the event loop have their turn.
    private static let turn = 1 << 20

    /// Sends what the feed gives, as long as the kernel takes it.
    ///
    /// In a loop and not by recursion, since a feed may have thousands of small pieces ready.
    func feed() {
        guard !isInFeed, !isFeedDue, let handle = exchange?.handle else { return }
        isInFeed = true
        defer { isInFeed = false }
        let turnEnd = handle.run.metrics.bodyBytesSent + Self.turn
        while let feed = feedToAsk, exchange?.handle === handle {
            guard handle.run.metrics.bodyBytesSent < turnEnd else { return feedLater() }
            exchange?.isFeeding = true
            feed.next().assumeIsolated().whenComplete { [self] result in given(result, by: feed) }
        }
    }

    /// What can be asked for the next piece; nil as long as nothing can, or the connection takes no more.
    private var feedToAsk: (any BodyFeed)? {
        guard let exchange, !exchange.isFeeding, !exchange.isBodyHeld, !exchange.isPaused,
            context?.channel.isWritable == true
        else { return nil }
        return exchange.feed
    }

    private func feedLater() {
        guard !isFeedDue else { return }
        isFeedDue = true
        context?.eventLoop.assumeIsolated().execute { [self] in
            isFeedDue = false
            feed()
        }
    }

    private func given(_ result: Result<ByteBuffer?, any Error>, by feed: any BodyFeed) {
        guard exchange?.feed === feed else { return }
        defer { self.feed() }
        exchange?.isFeeding = false
        switch result {
        case .failure(let error): failExchange(.unavailableBody(error, .maybeProcessed))
        case .success(let piece?): send(piece)
        case .success(nil): finishFeeding()
        }
    }

    private func send(_ piece: ByteBuffer) {
        guard let context, let handle = exchange?.handle, piece.readableBytes > 0 else { return }
        handle.run.metrics.bodyBytesSent += piece.readableBytes
        exchange?.piecesUnderWay += 1
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in pieceWasWritten(of: handle) }
        write(.body(.byteBuffer(piece)), context, written)
        guard exchange?.handle === handle else { return }
        tellOfSending(handle)
        if exchange?.piecesUnderWay ?? 0 > 0, deadlines[.write] == nil { watchWriting() }
    }

    /// Writes more of the body, which is not to hide what the kernel takes of what waits already.
    private func write(
        _ part: HTTPClientRequestPart,
        _ context: ChannelHandlerContext,
        _ written: EventLoopPromise<Void>
    ) {
        let handle = exchange?.handle
        let isWatched = deadlines[.write] != nil
        if isWatched { exchange?.writing.willAdd(to: unwritten) }
        context.writeAndFlush(wrapOutboundOut(part), promise: written)
        if isWatched, exchange?.handle === handle { exchange?.writing.added(rest: unwritten) }
    }

    private func tellOfSending(_ handle: RequestHandle) {
        guard host.core.isObserved(handle) else { return }
        host.core.tell(.sending(bytes: handle.run.metrics.bodyBytesSent, of: handle.current.source?.length), handle)
    }

    /// The kernel has taken a piece: as long as others wait, it has to take some of them in time.
    private func pieceWasWritten(of handle: RequestHandle) {
        guard exchange?.handle === handle else { return }
        exchange?.piecesUnderWay -= 1
        if exchange?.piecesUnderWay == 0 { deadlines[.write] = nil } else { watchWriting() }
    }

    private func watchWriting() {
        let now = NIODeadline.now()
        watchWriting(now)
        arm(now)
    }

    private func finishFeeding() {
        guard let context, let handle = exchange?.handle else { return }
        closeFeed()
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [self] in
            guard exchange?.handle === handle else { return }
            deadlines[.write] = nil
            let now = NIODeadline.now()
            wasSent(handle, now)
            arm(now)
        }
        write(.end(nil), context, written)
    }

    /// Ends the reading of the request's body, all sent or not.
    func closeFeed() {
        guard let feed = exchange?.feed else { return }
        exchange?.feed = nil
        feed.close()
    }

    /// Forgets the exchange: who gives and takes its bodies is told that it is over.
    func dropExchange() {
        guard let dropped = exchange else { return }
        exchange = nil
        isHolding = false
        held = .init()
        dropped.feed?.close()
        dropped.receiver?.abandon()
    }
}

extension ConnectionHandler {
    func received(_ head: HTTPResponseHead) {
        guard let handle = exchange?.handle else { return close() }
        let status = head.status.code
        if (100...199).contains(status), status != 101 {
            if status == 100 { releaseBody(.now()) }
            return
        }
        guard status != 101, life.answered(keepsAlive: keepsAlive(after: head, handle)) else {
            return failExchange(.init(.invalidResponse, .answered, "the server answered what was not asked"))
        }
        let now = NIODeadline.now()
        handle.run.life.answered()
        handle.run.metrics.answered = now
        exchange?.head = head
        deadlines[.firstByte] = nil
        deadlines[.read] = due(handle.current.limits.read, now)
        arm(now)
        if handle.run.scheduled != nil { host.core.dispatcher.sawHead(handle, .init(head)) }
        if host.core.isObserved(handle) { host.core.tell(.head(.init(head)), handle) }
        do throws(HTTPError) {
            // Who is refused does not go on sending (RFC 9112, 9.3).
            if status >= 300 { closeFeed() }
            try expectBody(of: head, handle)
            if exchange?.handle === handle, hasShortGrace { watchReading(now) }
        } catch {
            failExchange(error)
        }
    }

    private func expectBody(of head: HTTPResponseHead, _ handle: RequestHandle) throws(HTTPError) {
        let isPassedOver = head.status.code >= 300 && passesOver(head, handle)
        exchange?.isLikelyFollowed = head.status.code >= 400 && host.core.isLikelyFollowed(head, handle)
        if !isPassedOver, let receiver = handle.run.extras?.receiver { try begin(head, receiver, handle) }
        // They may tell of a body all the same (RFC 9110, 8.6).
        guard handle.current.head.method != .HEAD, !head.hasNoBody else { return }
        let decompresses = host.core.configuration.decompresses && exchange?.isPassedOver == false
        try exchange?.assembly.expect(head, decompresses: decompresses)
    }

    func received(_ bytes: ByteBuffer) {
        guard let handle = exchange?.handle else { return close() }
        handle.run.metrics.bodyBytesReceived += bytes.readableBytes
        lastByte = .now()
        // A body that is nobody's has one time for all of it.
        if exchange?.isPassedOver != true { deadlines[.read] = due(readLimit, lastByte) }
        do throws(HTTPError) {
            if exchange?.receiver == nil { try exchange?.assembly.append(bytes) } else { try handOn(bytes) }
        } catch {
            return failExchange(error)
        }
        guard host.core.isObserved(handle) else { return }
        if let progress = exchange?.receiver?.progress {
            host.core.tell(.received(bytes: Int(progress.bytes), of: progress.total.map { Int($0) }), handle)
        } else {
            let count = handle.run.metrics.bodyBytesReceived
            host.core.tell(.received(bytes: count, of: exchange?.assembly.announced), handle)
        }
    }

    func receivedEnd() {
        guard var finished = exchange, let head = finished.head else { return close() }
        let body: ByteBuffer
        do throws(HTTPError) {
            body = try finished.assembly.finish()
        } catch {
            return failExchange(error)
        }
        let handle = finished.handle
        let now = NIODeadline.now()
        handle.run.metrics.end = now
        closeFeed()
        exchange = nil
        let response = DataResponse(
            http1: head,
            buffer: body,
            metrics: handle.run.metrics,
            address: handle.current.url
        )
        deadlines.clear()
        answerHasEnded = true
        if let receiver = finished.receiver {
            letReadingGo()
            host.core.keep(handle, receiver, response)
        } else {
            host.core.answered(handle, response)
        }
    }

    /// Lets the connection serve the next request, once it is seen that nothing followed the answer.
    ///
    /// What came with its last bytes was not asked for; the next request would take it for its own answer.
    func settle() {
        guard answerHasEnded, !life.isClosed else { return }
        answerHasEnded = false
        switch life.ended() {
        case .reuse:
            host.released(self)
            rest()
        case .close: closeAfterAnswer()
        }
    }

    /// The server has said that it closes the connection, or there is more of the request than it wanted.
    private func closeAfterAnswer() {
        timer?.cancel()
        timer = nil
        shut(inOrder: true)
        host.closed(self, whileBusy: true)
    }

    /// Sets the moment at which the connection, if nobody uses it, is closed.
    func rest() {
        guard !life.isBusy, !life.isClosed else { return }
        guard !host.core.isClosing else { return close() }
        let now = NIODeadline.now()
        deadlines[.idle] = due(host.core.configuration.idleTimeout, now)
        arm(now)
    }
}

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

/// Requests that are paused by their user while they are under way.
extension ConnectionHandler {
    /// Whether the connection can be given up in a pause, since the receiver goes on behind what it has.
    var canGoOnByRange: Bool { exchange?.receiver?.continuesByRange == true }

    /// Sends no more of the body, reads no more of the answer, and lets no deadline go on.
    func pauseExchange() {
        guard exchange != nil else { return }
        exchange?.isPaused = true
        isHolding = true
        holdReading()
    }

    /// Takes what came meanwhile as if it came now, as far as it can be taken.
    func takeHeld() {
        guard isHolding, exchange?.isTakerBusy != true, exchange?.isPaused != true else { return }
        let held = held
        self.held = .init()
        isHolding = false
        do throws(HTTPError) { try inflate() } catch { return failExchange(error) }
        for part in held.parts where !life.isClosed {
            if isHolding { self.held.parts.append(part) } else { received(part) }
        }
        guard !isHolding else {
            (self.held.isLost, self.held.cause) = (held.isLost, held.cause)
            return
        }
        settle()
        if held.isLost, !life.isClosed { lost(held.cause) }
    }

    /// Goes on where it was paused; each stage has its whole time again.
    func resumeExchange() {
        guard let exchange, exchange.isPaused else { return }
        self.exchange?.isPaused = false
        let (handle, limits, now) = (exchange.handle, exchange.handle.current.limits, NIODeadline.now())
        deadlines.clear()
        deadlines[.total] = handle.deadline.map(Instant.init)
        if exchange.isBodyHeld, exchange.head == nil {
            holdBody(now)
        } else if !life.isRequestSent {
            // What gives the body may rest: then there is nothing that the kernel could take.
            if exchange.piecesUnderWay > 0 || unwritten > 0 { watchWriting(now) }
        } else if exchange.head == nil {
            deadlines[.firstByte] = due(limits.firstByte, now)
        }
        arm(now)
        takeHeld()
        // Also where the answer has come to its end: the connection is to serve others.
        if self.exchange?.isTakerBusy != true { letReadingGo() }
        feed()
    }
}

extension ConnectionHandler {
    /// Sees to it that the timer fires no later than the next deadline.
    ///
    /// A timer that fires too early is cheap: it asks and is set anew. So a request on a kept connection sets none.
    func arm(_ now: NIODeadline) {
        guard exchange?.isPaused != true, let next = deadlines.next, next.nanoseconds < timerDue, let context else {
            return
        }
        timer?.cancel()
        timerDue = next.nanoseconds
        let delay = TimeAmount.nanoseconds(max(0, next.nanoseconds - Instant(now).nanoseconds))
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in fired() }
    }

    private func fired() {
        timerDue = .max
        timer = nil
        guard exchange?.isPaused != true else { return }
        let now = NIODeadline.now()
        if let kind = deadlines.expired(at: Instant(now)) { expired(kind, now) }
        if !life.isClosed { arm(now) }
    }

    private func expired(_ kind: Deadlines.Kind, _ now: NIODeadline) {
        deadlines[kind] = nil
        guard let exchange else { return close() }
        let limits = exchange.handle.current.limits
        switch kind {
        case .idle: break
        case .total: fail(.total, limits.total, exchange)
        case .read where exchange.isLikelyFollowed: leaveLikelyFollowed()
        case .read: fail(.read, limits.read, exchange)
        case .firstByte where exchange.isBodyHeld: releaseBody(now)
        case .firstByte: fail(.firstByte, limits.firstByte, exchange)
        case .write: checkWriting(now)
        }
    }

    /// The kernel took nothing of what is to be written in time.
    func failWriting() {
        guard let exchange else { return }
        fail(.write, exchange.handle.current.limits.write, exchange)
    }

    private func fail(_ stage: Timeouts.Stage, _ limit: Duration?, _ exchange: Exchange) {
        failExchange(.timedOut(stage, after: limit, at: exchange.handle.current.endpoint.text))
    }
}

extension ConnectionHandler {
    /// Closes the channel; at once, whatever the server does.
    ///
    /// With a request under way it is reset, which tells the server that nobody waits, and frees what the kernel holds of
    /// it; that would otherwise stay for minutes if the server does not read. Over TLS a close in order says so to the
    /// server, and does not wait for it to say the same (RFC 8446, 6.1).
    func shut(inOrder: Bool) {
        guard let context else { return }
        let pipeline = context.pipeline.syncOperations
        let tls = try? pipeline.context(handlerType: NIOSSLClientHandler.self)
        if inOrder {
            context.close(promise: nil)
        } else {
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            if tls == nil { context.close(promise: nil) }
        }
        // Beneath the TLS handler, which would wait.
        tls?.close(promise: nil)
    }
}

extension ConnectionHandler: PathFollowing {
    var pathLossPolicy: PathLossPolicy? { exchange?.handle.current.policy.pathLoss }

    func pathWasLost(_ loss: PathLoss) {
        guard let exchange, let reason = loss.reason(exchange.handle.current.copy) else { return close() }
        let processing: Processing = exchange.head == nil ? .maybeProcessed : .answered
        failExchange(.init(.pathLost, processing, reason))
    }

    /// Lets the path be followed from now on, in a session that judges paths.
    func followPath() {
        guard let keeper = host.core.followingKeeper, let channel = context?.channel,
            let local = channel.localAddress.flatMap({ IPAddress($0) }),
            let remote = channel.remoteAddress.flatMap({ IPAddress($0) })
        else { return }
        let endpoint = host.endpoint
        isFollowed = true
        keeper.follow(
            self,
            .init(
                local: local,
                remote: remote,
                isBound: endpoint.binding.isToInterface,
                requirement: endpoint.requirement
            )
        )
    }

    /// The connection is closed.
    func unfollowPath() {
        guard isFollowed else { return }
        isFollowed = false
        host.core.followingKeeper?.unfollow(self)
    }
}

extension LocalBinding {
    /// Whether packets leave through one interface and no other.
    fileprivate var isToInterface: Bool {
        switch self {
        case .interface, .interfaceIndex: true
        case .unbound, .address: false
        }
    }
}

extension PathLoss {
    /// What a request fails with; nil where there was none.
    fileprivate func reason(_ request: PreparedRequest) -> String? {
        let host = request.endpoint.way
        return switch self {
        case .idle: nil
        case .addressGone: "the address or the interface of the connection to \(host) is gone"
        case .silent(let time, let reasons):
            """
            the way to \(host) is gone, and nothing came for \(time)\
            \(reasons.isEmpty ? "" : " (\(reasons.map(\.rawValue).joined(separator: ", ")))")
            """
        case .notAllowed: "the way to \(host) is none any more that the request may take"
        }
    }
}

extension ConnectionHandler {
    /// The head as whoever is at the other end of the connection wants it.
    ///
    /// A proxy that is handed the request reads the whole URL (RFC 9112, 3.2.2) and who the user is to it; an origin sees
    /// nothing of the latter.
    func addressed(_ head: HTTPRequestHead, _ handle: RequestHandle) -> HTTPRequestHead {
        guard let proxy = host.endpoint.proxy else { return head }
        var head = head
        guard host.endpoint.isForwarded else {
            head.headers.remove(name: "Proxy-Authorization")
            return head
        }
        let url = handle.current.url
        head.uri = "\(url.scheme)://\(url.authority)\(head.uri)"
        let method = head.method.rawValue
        let hasBody = handle.current.hasBody
        let authenticator = host.core.proxyAuthenticator
        let proof = authenticator.proof(for: proxy, method: method, target: head.uri, hasBody: hasBody)
        guard let proof else { return head }
        head.headers.replaceOrAdd(name: "Proxy-Authorization", value: proof.value)
        handle.extras.shownToProxy = proof
        return head
    }
}

extension ConnectionHandler {
    /// Whether the connection can serve another request.
    ///
    /// A proxy that asks for the user may answer before it has read the body, and forget the rest, as squid does.
    func keepsAlive(after head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        head.isKeepAlive && !head.hasFaultyFraming && (head.status.code != 407 || !handle.current.hasBody)
    }
}

extension HTTPResponseHead {
    /// Whether a server of HTTP/1.0 uses transfer codings, which that does not have (RFC 9112, 6.1).
    fileprivate var hasFaultyFraming: Bool { version == .http1_0 && headers.contains(name: "Transfer-Encoding") }
}

extension SessionCore {
    /// A proxy that was handed a request wants to know the user, or another one.
    func proxyWantsCredentials(of handle: RequestHandle, _ response: DataResponse) -> FollowUp {
        guard let proxy = handle.endpoint.proxy else { return .end }
        let challenges = response["Proxy-Authenticate"]
        let extras = handle.extras
        extras.proxyChallenges += 1
        if extras.proxyChallenges <= ProxyAuthenticator.maximumChallenges,
            proxyAuthenticator.learn(challenges, from: proxy, after: extras.shownToProxy)
        {
            return .go(handle.current.copy)
        }
        let status = "\(response.head.status.code) \(response.head.status.reasonPhrase)"
        let words = ProxyFailure(proxy: proxy, endpoint: handle.endpoint).words(for: status)
        var error = HTTPError(.proxyAuthenticationRequired, .refusedUnprocessed, words)
        error.proxy = proxy.description
        error.response = response.head
        error.body = Array(response.bytes.prefix(HTTPError.keptBody))
        return .fail(error)
    }
}
