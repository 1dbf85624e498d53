import HTTPLab
import Locking
import NIOCore
import NIOEmbedded
import NetworkClientCore
import Testing

@testable import NetworkClient

struct ProxyTunnelHandlerTests {
    private func channel() throws -> (EmbeddedChannel, ProxyTunnelHandler, Seen) {
        let handler = ProxyTunnelHandler(.socks(.init(to: .name("a"), port: 80, login: nil)))
        let seen = Seen()
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers(handler, seen)
        return (channel, handler, seen)
    }

    @Test func `bytes after the proxy's reply are forwarded after channelActive`() throws {
        let (channel, handler, seen) = try channel()
        var isReady = false
        handler.begin { outcome in
            if case .open(let rest) = outcome { handler.stepAside(rest) { isReady = seen.all == ["active"] } }
        }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [5, 1, 0]))
        try channel.writeInbound(ByteBuffer(bytes: [5, 0]))
        #expect(seen.all == [])
        try channel.writeInbound(ByteBuffer(bytes: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 42]))
        #expect(seen.all == ["active", "[42]"])
        #expect(isReady)
        try channel.writeInbound(ByteBuffer(bytes: [43]))
        #expect(seen.all == ["active", "[42]", "[43]"])
        #expect(throws: (any Error).self) { try channel.pipeline.syncOperations.handler(type: ProxyTunnelHandler.self) }
        _ = try channel.finish()
        #expect(seen.all.last == "inactive")
    }

    @Test func `events are forwarded only once the tunnel is open`() throws {
        let (channel, handler, seen) = try channel()
        handler.begin { outcome in
            if case .open(let rest) = outcome { handler.stepAside(rest) {} }
        }
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        channel.pipeline.fireUserInboundEventTriggered("handshake with the proxy")
        try channel.writeInbound(ByteBuffer(bytes: [5, 0]))
        try channel.writeInbound(ByteBuffer(bytes: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        channel.pipeline.fireUserInboundEventTriggered("later")
        #expect(seen.all == ["active", "event: later"])
        _ = try channel.finish()
    }

    @Test func `early bytes of a proxy are processed when the dialogue begins`() throws {
        let (channel, handler, seen) = try channel()
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        try channel.writeInbound(ByteBuffer(bytes: [5, 0]))
        handler.begin { outcome in
            if case .open(let rest) = outcome { handler.stepAside(rest) {} }
        }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [5, 1, 0]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [5, 1, 0, 3, 1, 97, 0, 80]))
        try channel.writeInbound(ByteBuffer(bytes: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        #expect(seen.all == ["active"])
        _ = try channel.finish()
    }

    @Test func `a late start begins immediately, and without a tunnel no event is forwarded`() throws {
        let (channel, handler, seen) = try channel()
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        var outcomes: [String] = []
        handler.begin { outcomes.append("\($0)") }
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil)
        _ = try channel.finish()
        #expect(outcomes.count == 1)
        #expect(outcomes.first?.contains("closed") == true)
        #expect(seen.all == [])
    }
}

/// Records the events of a channel.
private final class Seen: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private(set) var all: [String] = []

    func channelActive(context: ChannelHandlerContext) { all.append("active") }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        all.append("\(Array(unwrapInboundIn(data).readableBytesView))")
    }
    func channelInactive(context: ChannelHandlerContext) { all.append("inactive") }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { all.append("event: \(event)") }
}
