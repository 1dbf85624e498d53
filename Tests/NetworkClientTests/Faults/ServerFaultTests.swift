import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// Faults of servers: each has its error, and leaves no resources behind.
@Suite(.timeLimit(.minutes(10)))
struct ServerFaultTests {
    @Test(arguments: FaultTable.losses)
    func `a lost connection`(fault: Fault) async throws { try await check(fault) }

    @Test(arguments: FaultTable.silence)
    func `a server that is silent or slow`(fault: Fault) async throws { try await check(fault) }

    @Test(arguments: FaultTable.nonsense)
    func `an invalid response`(fault: Fault) async throws { try await check(fault) }

    @Test(arguments: FaultTable.excess)
    func `an excessive response`(fault: Fault) async throws { try await check(fault) }

    private func check(_ fault: Fault) async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, receiveBuffer: 16_384, always: fault.script)
            var configuration = HTTPConfiguration.lasting
            fault.configure(&configuration)
            let session = try faults.session(configuration)
            let url = "http://127.0.0.1:\(server.port)/"
            let error = await #expect(throws: HTTPError.self) {
                let request = fault.upload.map { session.put(url, body: $0) } ?? session.get(url)
                _ = try await request.response()
            }
            #expect(error?.code == fault.code, "\(error.debugDescription)")
            #expect(error?.processing == fault.processing)
            if let errno = fault.errno { #expect(error?.errno == errno) }
            #expect(error?.reason.isEmpty == false)
            try await faults.end(session)
            // The connection is closed on the other side, too: nothing retains it.
            try await server.waitForEnds()
            #expect(server.connections.count == 1)
            try await server.stop()
        }
    }
}
