import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkClientCore
import ReachabilityCore

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
        let error = HTTPError.lost(cause, hasHead: exchange.head != nil, exchange.handle.current.copy)
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
