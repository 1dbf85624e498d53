import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("Giving up while connecting", .timeLimit(.minutes(5)))
struct ConnectCancelTests {
    private func expectCancelled(_ attempt: ConnectionAttempt) async {
        let error = await #expect(throws: HTTPError.self) { try await attempt.established.get() }
        #expect(error?.code == .cancelled)
        #expect(error?.processing == .neverSent)
    }

    @Test func `before it has begun`() async throws {
        try await LabLoops.run { loops in
            let before = try loops.sockets()
            let attempt = try await loops.loop.submit {
                let attempt = Connector(tls: nil).connect(to: .init("127.0.0.1"), limits: .lasting, on: loops.loop) {
                    _ in
                }
                attempt.cancel()
                return attempt
            }.get()
            await expectCancelled(attempt)
            let other = Connector(tls: nil).connect(to: .init("127.0.0.1"), limits: .lasting, on: loops.loop) { _ in }
            other.cancel()
            await #expect(throws: HTTPError.self) { try await other.established.get() }
            try await loops.waitForSockets(before)
        }
    }

    @Test func `while the name is looked up`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        try await LabLoops.run { loops in
            let before = try loops.sockets()
            let connector = Connector(resolver: resolver, tls: nil)
            let attempt = connector.connect(to: .init("stalled"), limits: .lasting, on: loops.loop) { _ in }
            try await look.begun.wait(for: "the lookup") { !$0.isEmpty }
            attempt.cancel()
            await expectCancelled(attempt)
            look.release()
            try await resolver.waitForThreads()
            try await loops.waitForSockets(before)
        }
    }

    @Test(arguments: [["192.0.2.9"], ["2001:db8::9", "192.0.2.9"]])
    func `while it connects`(addresses: [String]) async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers("2001:db8::9", "192.0.2.9")
            let before = try loops.sockets()
            let resolved = try addresses.map { try SocketAddress.numeric($0, port: 0) }
            let connector = Connector(resolver: NameResolver { _ in .addresses(resolved) }, tls: nil)
            let attempt = connector.connect(to: .init("x"), limits: .lasting, on: loops.loop) { _ in }
            try await loops.waitForSockets { $0 >= before + addresses.count }
            attempt.cancel()
            attempt.cancel()
            await expectCancelled(attempt)
            try await loops.waitForSockets(before)
        }
    }

    @Test func `within the handshake`() async throws {
        let connector = Connector(tls: try TLSClient(.trusting(try CertificateAuthority())))
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let before = try loops.sockets()
            let endpoint = Endpoint(isSecure: true, host: "127.0.0.1", port: Int(server.port))
            let attempt = connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
            try await server.wait(for: "the hello") { $0.first?.received.isEmpty == false }
            attempt.cancel()
            await expectCancelled(attempt)
            try await server.waitForEnds()
            try await loops.waitForSockets(before)
        }
    }

    @Test func `cancelling an established connection has no effect`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let attempt = Connector(tls: nil).connect(
                to: .init("127.0.0.1", Int(server.port)),
                limits: .lasting,
                on: loops.loop
            ) { _ in }
            let connection = try await attempt.established.get()
            attempt.cancel()
            try await loops.loop.submit {}.get()
            #expect(connection.channel.isActive)
            try await connection.channel.close()
        }
    }

    @Test func `at any time, five hundred times`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let before = try loops.sockets()
            let address = try SocketAddress.numeric("127.0.0.1", port: 0)
            let connector = Connector(resolver: NameResolver { _ in .addresses([address]) }, tls: nil)
            var established = 0
            for round in 0..<500 {
                let endpoint = Endpoint(round % 2 == 0 ? "127.0.0.1" : "x", Int(server.port))
                let attempt = connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
                for _ in 0..<(round % 20) { await Task.yield() }
                attempt.cancel()
                guard let connection = try? await attempt.established.get() else { continue }
                established += 1
                try await connection.channel.close()
            }
            #expect(established < 500)
            try await server.wait(for: "the connections' end") { $0.allSatisfy { $0.end != nil } }
            try await loops.waitForSockets(before)
        }
    }
}
