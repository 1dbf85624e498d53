import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL

@testable import NetworkClient

/// A handshake between a session's TLS handler and a server, over a pair of connected sockets.
struct TLSTrial {
    /// The server's certificate chain and key.
    var server: MintedIdentity
    /// The client's options.
    var options: TLSOptions
    /// The host that the client requests.
    var host: String
    /// The only version that the server speaks; nil for 1.2 and 1.3.
    var version: TLSVersion?
    /// The authority whose client certificates the server accepts; nil to request none.
    var clientAuthority: MintedCertificate?

    init(_ server: MintedIdentity, _ options: TLSOptions, host: String = "localhost") {
        self.server = server
        self.options = options
        self.host = host
    }

    /// The outcome on both sides.
    struct Outcome: Sendable {
        /// The error; nil if the client has a response.
        var error: HTTPError?
        /// The negotiated version.
        var version: TLSVersion?
        /// The server's record.
        var seen: TLSServerRecord
    }

    /// Performs a handshake and sends a request, which is written before the handshake begins.
    func run() async throws -> Outcome {
        let connection = try await open()
        let end = try await connection.client.finish()
        try await connection.server.closeFuture.get()
        return Outcome(error: end.error, version: end.version, seen: connection.record.value)
    }

    /// Performs a handshake, and returns its error; nil if it succeeds.
    func refusal() async throws -> HTTPError? { try await run().error }

    /// Connects both sides.
    func open() async throws -> TLSTrialConnection {
        let context = try NIOSSLContext(configuration: serverConfiguration())
        let (near, far) = try TLSTrialConnection.socketPair()
        let record = Observed(TLSServerRecord())
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let server = try await bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try serverHandlers(context, record, channel) }
        }.withConnectedSocket(far).get()
        let client = try await TLSTrialClient.connect(near, options, host: host)
        return TLSTrialConnection(client: client, server: server, record: record)
    }
}

extension TLSTrial {
    /// Adds a server's handlers to a channel.
    func serverHandlers(
        _ context: NIOSSLContext,
        _ record: Observed<TLSServerRecord>,
        _ channel: any Channel
    ) throws {
        let trusted = clientAuthority?.der
        let handler = NIOSSLServerHandler(
            context: context,
            customVerificationCallback: { chain, promise in
                record.update { $0.clientCertificates = chain.count }
                let isTrusted = chain.last.flatMap { try? $0.toDERBytes() } == trusted
                promise.succeed(isTrusted ? .certificateVerified : .failed)
            },
            configuration: .init()
        )
        let handlers: [any ChannelHandler] = [TLSRecordRecorder(record), handler, TLSServerProbe(record)]
        try channel.pipeline.syncOperations.addHandlers(handlers)
    }

    func serverConfiguration() throws -> TLSConfiguration {
        let chain = try ([server.own] + server.above).map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
        let key = try NIOSSLPrivateKey(bytes: Array(server.own.keyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = version ?? .tlsv12
        configuration.maximumTLSVersion = version
        configuration.applicationProtocols = ["http/1.1"]
        if clientAuthority != nil {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([])
        }
        return configuration
    }
}
