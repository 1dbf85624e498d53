import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkClientCore
import Testing

@testable import NetworkClient

/// An HTTP/1.1 connection without a socket.
struct HTTP1ConnectionTests {
    /// A pool that counts.
    private final class Owner: HTTPConnectionOwner {
        private(set) var freeCount = 0
        private(set) var closedCount = 0

        var isClosing: Bool { false }

        func connectionIsFree(_ connection: any HTTPConnection) { freeCount += 1 }
        func connectionLimitChanged(_ connection: any HTTPConnection, to limit: Int, isFinal: Bool) {}
        func connectionRequiresHTTP1(_ connection: any HTTPConnection) {}
        func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool) { closedCount += 1 }
    }

    @Test(arguments: [false, true])
    func `a connection that was lost while its response was held is not used again`(isLost: Bool) throws {
        let (channel, owner) = (EmbeddedChannel(), Owner())
        let connection = HTTP1Connection(1, owner, on: channel.eventLoop, maximumHeadSize: 8192, idleTimeout: nil)
        try connection.install(in: channel)
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        let exchange = StandInExchange(connection)
        #expect(connection.start(exchange))
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "a"])
        connection.send(.head(head), for: exchange, flushes: false)
        connection.send(.end(nil), for: exchange, flushes: true)
        connection.setReading(false, for: exchange)
        _ = try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
        if isLost { channel.pipeline.fireChannelInactive() }
        connection.setReading(true, for: exchange)
        #expect(exchange.hasEnd && !exchange.hasFailed)
        #expect(owner.freeCount == (isLost ? 0 : 1) && owner.closedCount == (isLost ? 1 : 0))
        #expect(connection.isClosed == isLost)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
