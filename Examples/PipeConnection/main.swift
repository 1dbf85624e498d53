import Dispatch
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkClient

// HTTP over a pair of pipes. A connection is `package`: this program is part of it.

/// Carries one exchange at a time over two pipes.
///
/// Unchecked, because it is confined to its event loop.
final class PipeConnection: ChannelInboundHandler, HTTPConnection, @unchecked Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    let id: Int
    private(set) var isReused = false
    private let owner: any HTTPConnectionOwner
    private var context: ChannelHandlerContext?
    /// What was sent before the channel was there.
    private var early: [(HTTPClientRequestPart, EventLoopPromise<Void>?)] = []
    private var exchange: (any HTTPExchange)?
    private var wasStarted = false
    private var isClosed = false

    init(_ request: ConnectionRequest, input: Int32, output: Int32) {
        (id, owner) = (request.id, request.owner)
        NIOPipeBootstrap(group: request.loop)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let decoder = ByteToMessageHandler(HTTPResponseDecoder())
                    try channel.pipeline.syncOperations.addHandlers([HTTPRequestEncoder(), decoder, self])
                }
            }
            .takingOwnershipOfDescriptors(input: input, output: output)
            .assumeIsolated().whenFailure { [self] error in lost(error) }
    }

    // MARK: Exchanges

    var capacity: Int { exchange == nil && !isClosed ? 1 : 0 }

    func isWritable(for exchange: any HTTPExchange) -> Bool { context?.channel.isWritable ?? false }

    func unwrittenBytes(of exchange: any HTTPExchange) -> Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    func start(_ exchange: any HTTPExchange) -> Bool {
        guard capacity > 0 else { return false }
        (self.exchange, isReused, wasStarted) = (exchange, wasStarted, true)
        return true
    }

    func withdraw(_ exchange: any HTTPExchange) {
        self.exchange = nil
        owner.connectionIsFree(self)
    }

    func send(
        _ part: HTTPClientRequestPart,
        for exchange: any HTTPExchange,
        flushes: Bool,
        promise: EventLoopPromise<Void>?
    ) {
        guard let context, context.channel.isActive else { return early.append((part, promise)) }
        context.write(wrapOutboundOut(part), promise: promise)
        if flushes { context.flush() }
    }

    func setReading(_ isReading: Bool, for exchange: any HTTPExchange) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }

    func cancel(_ exchange: any HTTPExchange) { if self.exchange === exchange { close() } }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        let ended = exchange
        exchange = nil
        ended?.connectionHasEnded()
        for (_, promise) in early { promise?.fail(ChannelError.ioOnClosedChannel) }
        context?.close(promise: nil)
        owner.connectionWasClosed(self, whileBusy: ended != nil)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if isClosed { return context.close(promise: nil) }
        for (part, promise) in early { context.write(wrapOutboundOut(part), promise: promise) }
        early = []
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        let present = exchange
        present?.receive(part)
        guard case .end = part, exchange === present, !isClosed else { return }
        exchange = nil
        owner.connectionIsFree(self)
    }

    func channelInactive(context: ChannelHandlerContext) { lost(nil) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { lost(error) }

    private func lost(_ error: (any Error)?) {
        if let exchange { exchange.connectionWasLost(error, hasResponseBegun: false) } else { close() }
    }
}

/// A server: responds to each request with the request's first line.
@Sendable func serve(_ input: Int32, _ output: Int32) {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while read(input, &byte, 1) == 1 {
        head.append(byte)
        guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
        let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let response = "HTTP/1.1 200 OK\r\nContent-Length: \(line.utf8.count)\r\n\r\n\(line)"
        _ = write(output, response, response.utf8.count)
        head = []
    }
}

var configuration = HTTPConfiguration()
configuration.makeConnection = { request in
    var (requests, responses): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&requests) == 0, pipe(&responses) == 0 else { throw IOError(errnoCode: errno, reason: "pipe") }
    DispatchQueue.global().async { [requests, responses] in serve(requests[0], responses[1]) }
    return PipeConnection(request, input: responses[0], output: requests[1])
}
let session = try HTTPSession(baseURL: "http://pipe.example", configuration: configuration)
for name in ["first", "second"] { print(try await session.get(name).string()) }
