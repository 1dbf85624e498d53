import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("Connections with TLS", .timeLimit(.minutes(5)))
struct SecureConnectionTests {
    private func endpoint(_ port: Int, host: String = "127.0.0.1") -> Endpoint {
        .init(isSecure: true, host: host, port: port)
    }

    /// Runs a TLS server in the loops' namespace.
    private func withServer(
        _ identity: MintedIdentity,
        in loops: LabLoops,
        _ body: (Int) async throws -> Void
    ) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.chainPEM.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.own.keyPEM.utf8), format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let server = try await loops.lab.run {
            ServerBootstrap(group: loops.group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                }
                .bind(to: try .numeric("127.0.0.1", port: 0))
        }.get()
        try await body(try #require(server.localAddress?.port))
        try await server.close()
    }

    @Test func `the handshake is complete when the connection is established`() async throws {
        let authority = try CertificateAuthority()
        let connector = Connector(tls: try TLSClient(.trusting(authority)))
        try await LabLoops.run { loops in
            try await withServer(authority.issue(), in: loops) { port in
                let attempt = connector.connect(to: endpoint(port), limits: .lasting, on: loops.loop) { channel in
                    _ = try channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
                }
                let connection = try await attempt.established.get()
                #expect(connection.metrics.tls != nil)
                #expect(connection.metrics.tlsVersion == "TLSv1.3")
                try await connection.channel.close()
            }
        }
    }

    @Test func `a name with a trailing dot is the certificate's name`() async throws {
        let authority = try CertificateAuthority()
        let address = try SocketAddress.numeric("127.0.0.1", port: 0)
        let connector = Connector(
            resolver: NameResolver { $0 == "host.example." ? .addresses([address]) : .failure(code: -2, errno: 0) },
            tls: try TLSClient(.trusting(authority))
        )
        try await LabLoops.run { loops in
            try await withServer(authority.issue(["host.example"], addresses: []), in: loops) { port in
                let endpoint = endpoint(port, host: "host.example.")
                let connection = try await connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
                    .established.get()
                try await connection.channel.close()
            }
        }
    }

    @Test func `an untrusted server fails with the verdict's error, and leaves no connection`() async throws {
        let connector = Connector(tls: try TLSClient(.trusting(try CertificateAuthority("Trusted"))))
        try await LabLoops.run { loops in
            try await withServer(CertificateAuthority("Other").issue(), in: loops) { port in
                let error = try await loops.failure(connectingTo: endpoint(port), by: connector)
                #expect(error.code == .certificateUntrusted)
                #expect(error.processing == .neverSent)
            }
        }
    }

    @Test(
        "Servers that do not speak TLS",
        arguments: [
            ([ServerStep.readBytes(1), .reset], HTTPError.Code.connectionLost),
            ([.readBytes(1), .close], .connectionLost),
            ([.close], .connectionLost), ([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .hold], .tlsFailed),
            ([.hold], .tlsTimedOut), ([.sendBytes([22, 3, 3]), .hold], .tlsTimedOut),
        ]
    )
    func strangers(steps: [ServerStep], code: HTTPError.Code) async throws {
        let connector = Connector(tls: try TLSClient(.trusting(try CertificateAuthority())))
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: steps)
            var limits = Timeouts.lasting
            if code == .tlsTimedOut { limits.tls = .milliseconds(50) }
            let before = try loops.sockets()
            let attempt = connector.connect(to: endpoint(Int(server.port)), limits: limits, on: loops.loop) { _ in }
            let error = await #expect(throws: HTTPError.self) { try await attempt.established.get() }
            #expect(error?.code == code, "\(error?.reason ?? "")")
            #expect(error?.processing == .neverSent)
            try await server.waitForEnds()
            try await loops.waitForSockets(before)
        }
    }

    @Test func `a handshake whose bytes arrived while the process was stopped is completed`() async throws {
        let authority = try CertificateAuthority()
        let connector = Connector(tls: try TLSClient(.trusting(authority)))
        var limits = Timeouts.lasting
        limits.tls = .seconds(3)
        try await LabLoops.run { loops in
            // The server needs a thread that is not stopped.
            try await LabLoops.run(in: loops.lab) { others in
                try await withServer(authority.issue(), in: others) { port in
                    let attempt = connector.connect(to: endpoint(port), limits: limits, on: loops.loop) { channel in
                        // The loop runs this after the first bytes are sent, and before it reads the response.
                        channel.eventLoop.execute {
                            stopThread(for: .milliseconds(3_400)) { channel.hasUnreadBytes }
                        }
                    }
                    let connection = try await attempt.established.get()
                    try await connection.channel.close()
                }
            }
        }
    }

    @Test func `a handshake whose bytes have not arrived meanwhile times out`() async throws {
        let connector = Connector(tls: try TLSClient(.trusting(try CertificateAuthority())))
        var limits = Timeouts.lasting
        limits.tls = .milliseconds(500)
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.hold])
            let endpoint = endpoint(Int(server.port))
            let attempt = connector.connect(to: endpoint, limits: limits, on: loops.loop) { channel in
                channel.eventLoop.execute { stopThread(for: .milliseconds(900)) }
            }
            let error = await #expect(throws: HTTPError.self) { try await attempt.established.get() }
            #expect(error?.code == .tlsTimedOut)
        }
    }

    @Test func `without a TLS client there is no secure connection`() async throws {
        try await LabLoops.run { loops in
            let error = try await loops.failure(connectingTo: endpoint(9))
            #expect(error.code == .invalidConfiguration)
        }
    }
}
