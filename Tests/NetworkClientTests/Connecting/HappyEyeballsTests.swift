import Glibc
import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

@Suite("Names with several addresses", .timeLimit(.minutes(5)))
struct HappyEyeballsTests {
    /// A connector for which every name has these addresses.
    private func connector(_ addresses: String...) throws -> Connector {
        let addresses = try addresses.map { try SocketAddress.numeric($0, port: 0) }
        return Connector(resolver: NameResolver { _ in .addresses(addresses) }, tls: nil)
    }

    @Test func `IPv4 connects if IPv6 does not respond`() async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers("2001:db8::9")
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let before = try loops.sockets()
            let connector = try connector("2001:db8::9", "127.0.0.1")
            let endpoint = Endpoint("two.example", Int(server.port))
            let established = try await connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
                .established.get()
            #expect(established.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(established.metrics.resolve != nil)
            try await established.channel.close()
            try await server.waitForEnds()
            try await loops.waitForSockets(before)
        }
    }

    @Test func `IPv4 connects immediately if IPv6 has no route`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let connector = try connector("2001:db8::9", "2001:db8::a", "127.0.0.1")
            let endpoint = Endpoint("two.example", Int(server.port))
            let established = try await connector.connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
                .established.get()
            #expect(established.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            try await established.channel.close()
        }
    }

    @Test func `the resolver's order is kept, whichever family it begins with`() async throws {
        try await LabLoops.run { loops in
            for order in [["127.0.0.1", "::1"], ["::1", "127.0.0.1"]] {
                let error = try await loops.failure(
                    connectingTo: .init("two.example"),
                    by: connector(order[0], order[1])
                )
                #expect(error.code == .connectionRefused)
                let texts = order.map { $0.contains(":") ? "[\($0)]:9" : "\($0):9" }
                #expect(error.reason.contains("(all addresses of two.example were tried: \(texts[0]): "))
                #expect(error.reason.contains("; \(texts[1]): Connection refused)"), "\(error)")
            }
        }
    }

    @Test func `the most informative error is reported`() async throws {
        try await LabLoops.run { loops in
            let refused = try await loops.failure(connectingTo: .init("x"), by: connector("2001:db8::1", "127.0.0.1"))
            #expect(refused.code == .connectionRefused)
            #expect(refused.errno == ECONNREFUSED)
            #expect(refused.reason.contains("[2001:db8::1]:9: Network is unreachable"), "\(refused)")
            let unreachable = try await loops.failure(
                connectingTo: .init("x"),
                by: connector("2001:db8::1", "192.0.2.1")
            )
            #expect(unreachable.code == .networkUnreachable)
            #expect(unreachable.errno == ENETUNREACH)
        }
    }

    @Test func `the timeout covers all addresses together`() async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers("2001:db8::9", "192.0.2.9")
            let error = try await loops.failure(
                connectingTo: .init("x"),
                by: connector("2001:db8::9", "192.0.2.9"),
                // The second address is tried 250 ms after the first one, later on a busy machine.
                limits: .init(connect: .seconds(3))
            )
            #expect(error.code == .connectTimedOut)
            #expect(error.reason.contains("(tried [2001:db8::9]:9, 192.0.2.9:9)"))
        }
    }

    @Test func `a source address uses only addresses of its family`() async throws {
        try await LabLoops.run { loops in
            let error = try await loops.failure(
                connectingTo: .init("x", 9, .address("127.0.0.5")),
                by: connector("::1", "127.0.0.1")
            )
            #expect(error.code == .connectionRefused)
            #expect(!error.reason.contains("::1"))
        }
    }

    @Test func `a name without addresses is an error`() async throws {
        try await LabLoops.run { loops in
            let error = try await loops.failure(connectingTo: .init("x"), by: connector())
            #expect(error.code == .nameNotFound)
        }
    }
}
