import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("The system's own lookups", .timeLimit(.minutes(5)))
struct SystemLookupTests {
    private func resolve(
        _ manner: NameServerHandler.Manner,
        limit: Duration = .seconds(120)
    ) async throws -> Result<[String], HTTPError> {
        try await LabLoops.run { loops in
            let resolver = NameResolver()
            let server = try await LabNameServer(manner, in: loops)
            let query = try server.resolve("host.example.", by: resolver, limit: limit)
            do {
                let addresses = try await query.addresses.get()
                try await resolver.waitForThreads()
                return .success(addresses.compactMap(\.ipAddress))
            } catch let error as HTTPError {
                server.releaseQueries()
                try await resolver.waitForThreads()
                return .failure(error)
            }
        }
    }

    private func code(
        _ manner: NameServerHandler.Manner,
        limit: Duration = .seconds(120)
    ) async throws -> HTTPError.Code? {
        switch try await resolve(manner, limit: limit) {
        case .success: nil
        case .failure(let error): error.code
        }
    }

    @Test func `a name server's addresses are returned`() async throws {
        let addresses = try await resolve(.addresses([[192, 0, 2, 7], [192, 0, 2, 8]])).get()
        #expect(addresses.sorted() == ["192.0.2.7", "192.0.2.8"])
    }

    @Test func `a name that does not exist is not found`() async throws {
        #expect(try await code(.code(3)) == .nameNotFound)
    }

    @Test func `a name without addresses is not found`() async throws {
        #expect(try await code(.code(0)) == .nameNotFound)
    }

    @Test func `a failing name server is a temporary failure`() async throws {
        #expect(try await code(.code(2)) == .nameTemporarilyUnresolvable)
    }

    @Test func `a silent name server ends with the timeout`() async throws {
        // The system's own timeout is much longer, so it can't end the lookup first on a busy machine.
        #expect(try await code(.held, limit: .milliseconds(100)) == .resolveTimedOut)
    }

    @Test func `a silent name server is a temporary failure`() async throws {
        #expect(try await code(.silence) == .nameTemporarilyUnresolvable)
    }
}
