import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Origins with TLS through a proxy with TLS.
@Suite(.timeLimit(.minutes(5)))
struct SecureProxyTests {
    /// Opens the tunnel of a request, and is the origin behind it.
    private final class TunnelEnd: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let origin: NIOSSLContext
        private var head = ByteBuffer()

        init(_ origin: NIOSSLContext) { self.origin = origin }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            head.writeBuffer(&bytes)
            guard head.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")), promise: nil)
            let pipeline = context.pipeline.syncOperations
            try? pipeline.addHandler(NIOSSLServerHandler(context: origin))
            pipeline.removeHandler(self, promise: nil)
        }
    }

    private static func context(_ identity: MintedIdentity, _ protocols: [String] = []) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.chainPEM.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.own.keyPEM.utf8), format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }

    /// Connects to an origin with HTTP/2 behind a proxy, whose authority the client trusts.
    private static func connect(
        to origin: MintedIdentity,
        through authority: CertificateAuthority,
        _ body: (EventLoopFuture<EstablishedConnection>) async throws -> Void
    ) async throws {
        let (outer, inner) = (try context(authority.issue()), try context(origin, ["h2"]))
        let options = try TLSOptions.trusting(authority)
        let connector = Connector(tls: try TLSClient(options), proxies: ProxyContext(tls: options))
        try await LabLoops.run { loops in
            let server = try await loops.lab.run {
                ServerBootstrap(group: loops.group)
                    .childChannelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            let pipeline = channel.pipeline.syncOperations
                            try pipeline.addHandlers(NIOSSLServerHandler(context: outer), TunnelEnd(inner))
                        }
                    }
                    .bind(to: try .numeric("127.0.0.1", port: 0))
            }.get()
            let port = try #require(server.localAddress?.port)
            var endpoint = Endpoint(isSecure: true, host: "127.0.0.1", port: 443)
            endpoint.proxy = try ProxyServer("https://127.0.0.1:\(port)")
            endpoint.http2 = .automatic
            try await body(connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }.established)
            try await server.close()
        }
    }

    @Test func `the connection is established after the handshake with the origin`() async throws {
        let authority = try CertificateAuthority()
        try await Self.connect(to: authority.issue(), through: authority) { established in
            let connection = try await established.get()
            #expect(connection.applicationProtocol == "h2")
            #expect(connection.metrics.tlsVersion == "TLSv1.3")
            #expect(connection.metrics.proxy != nil)
            try await connection.channel.close()
        }
    }

    @Test func `an origin that is not trusted fails the connection`() async throws {
        let other = try CertificateAuthority("Other")
        try await Self.connect(to: other.issue(), through: CertificateAuthority()) { established in
            let error = await #expect(throws: HTTPError.self) { try await established.get() }
            #expect(error?.code == .certificateUntrusted)
            #expect(error?.processing == .neverSent)
            #expect(error?.proxy == nil)
        }
    }
}
