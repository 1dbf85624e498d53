import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

struct ConnectorTests {
    @Test func `a connection to a numeric address stands`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let endpoint = Endpoint(isSecure: false, host: "127.0.0.1", port: Int(server.port))
            let attempt = Connector(tls: nil).connect(to: endpoint, limits: .init(), on: loops.loop) { _ in }
            let connection = try await attempt.established.get()
            #expect(connection.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(connection.metrics.resolve == nil)
            #expect(connection.metrics.connect != nil)
            try await connection.channel.close()
            try await server.waitForEnds()
        }
    }
}
