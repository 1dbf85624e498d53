import Testing

@testable import NetworkClient

/// Connections that are not the client's own; `Examples/PipeConnection` has one.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionMakerTests {
    private struct NoPipe: Error {}

    @Test func `a connection that cannot be made fails the request that waits for it`() async throws {
        var configuration = HTTPConfiguration.lasting
        configuration.makeConnection = { _ in throw NoPipe() }
        let session = try HTTPSession(baseURL: "http://origin.example", configuration: configuration)
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPError.self) { try await session.get("a").response() }
            #expect(error?.code == .connectFailed)
            #expect(error?.processing == .neverSent)
            #expect(error?.cause is NoPipe)
        }
        #expect(session.requests.isEmpty)
    }
}
