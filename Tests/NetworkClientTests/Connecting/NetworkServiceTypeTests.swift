import Glibc
import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// The type of traffic of connections, as the peer and the kernel see it.
@Suite(.timeLimit(.minutes(5)))
struct NetworkServiceTypeTests {
    /// A server that responds with the traffic class of its connection.
    private func server(on address: ServerAddress) throws -> ScriptedServer {
        try ScriptedServer(
            on: address,
            always: [
                .forever([
                    .readRequest,
                    .custom { connection in
                        try connection.perform(.response("\(connection.trafficClass() >> 2)"))
                    },
                ])
            ]
        )
    }

    @Test(arguments: [ServerAddress.loopback, .ipv6])
    func `the server sees the code point of the session or the request`(address: ServerAddress) async throws {
        let server = try server(on: address)
        let host = address == .ipv6 ? "[::1]" : "127.0.0.1"
        let session = try HTTPSession(
            baseURL: "http://\(host):\(server.port)/",
            configuration: .init(timeouts: .lasting, serviceType: .background)
        )
        #expect(try await session.get("").string() == "8")
        #expect(try await session.get("", options: .init(serviceType: .voice)).string() == "46")
        #expect(try await session.get("", options: .init(serviceType: .standard)).string() == "0")
        #expect(try await session.get("").string() == "8")
        let own = try NetworkServiceType(codePoint: 63)
        #expect(try await session.get("", options: .init(serviceType: own)).string() == "63")
        // Requests of the same type share a connection.
        #expect(server.connections.count == 4)
    }

    @Test(arguments: [ServerAddress.loopback, .ipv6])
    func `the priority in this machine's queues is set too`(address: ServerAddress) async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(on: address, in: loops.lab, always: [.readToEnd])
            var endpoint = Endpoint(address == .ipv6 ? "::1" : "127.0.0.1", Int(server.port))
            endpoint.serviceType = .video
            let attempt = Connector(tls: nil).connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }
            let channel = try await attempt.established.get().channel
            let priority = try await channel.getOption(.socketOption(.init(rawValue: SO_PRIORITY))).get()
            #expect(priority == NetworkServiceType.video.queuePriority)
            try await channel.close()
            try await server.stop()
        }
    }

    @Test func `values that the kernel does not know are errors that name them`() {
        let point = #expect(throws: HTTPError.self) { try NetworkServiceType(codePoint: 64) }
        #expect(point?.code == .invalidConfiguration)
        #expect(point?.reason.contains("the code point 64") == true)
        for priority: Int32 in [-1, 7] {
            let error = #expect(throws: HTTPError.self) {
                try NetworkServiceType(codePoint: 0, queuePriority: priority)
            }
            #expect(error?.reason.contains("the queue priority \(priority)") == true)
        }
    }
}
