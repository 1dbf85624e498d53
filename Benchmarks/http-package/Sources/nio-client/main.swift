import ClientRun
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends a request over and over on one connection: no session, no pool, no task; the floor for a client on NIO.
///
/// Unchecked, because it is touched on its event loop only.
final class Repeater: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private var response: EventLoopPromise<Int>?
    private var length = 0

    init(host: String, path: String) {
        head = .init(version: .http1_1, method: .GET, uri: path, headers: ["Host": host])
    }

    func send(_ response: EventLoopPromise<Int>, on channel: any Channel) {
        self.response = response
        length = 0
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: break
        case .body(let bytes): length += bytes.readableBytes
        case .end: response?.succeed(length)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { response?.fail(error) }
}

/// Connections that are free.
actor Connections {
    private var free: [(Repeater, any Channel)] = []

    func take() -> (Repeater, any Channel)? { free.popLast() }
    func add(_ repeater: Repeater, _ channel: any Channel) { free.append((repeater, channel)) }
}

let run = ClientRun()
let parts = run.url.dropFirst("http://".count).split(separator: "/", maxSplits: 1).map(String.init)
let address = parts[0].split(separator: ":").map(String.init)
let loop = MultiThreadedEventLoopGroup.singleton.next()
let connections = Connections()
for _ in 0..<run.inFlight {
    let repeater = Repeater(host: parts[0], path: "/" + parts[1])
    let channel = try await ClientBootstrap(group: loop)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(repeater)
            }
        }
        .connect(host: address[0], port: Int(address[1]) ?? 80)
        .get()
    await connections.add(repeater, channel)
}
try await run.run {
    guard let (repeater, channel) = await connections.take() else { return 0 }
    let response = loop.makePromise(of: Int.self)
    loop.execute { repeater.send(response, on: channel) }
    let length = try await response.futureResult.get()
    await connections.add(repeater, channel)
    return length
}
