import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("Looking names up", .timeLimit(.minutes(5)))
struct NameResolverTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.any()

    private func error(of query: NameQuery) async -> HTTPError? {
        do {
            let addresses = try await query.addresses.get()
            Issue.record("resolved to \(addresses)")
            return nil
        } catch {
            return error as? HTTPError
        }
    }

    @Test func `the hosts file's names are found, in the system's order`() async throws {
        let resolver = NameResolver()
        let addresses = try await resolver.resolve("localhost", limit: .seconds(120), on: loop).addresses.get()
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.ipAddress) && $0.port == 0 })
        try await resolver.waitForThreads()
    }

    @Test func `names that stall delay no other name`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        let stalled = (0..<9).map { resolver.resolve("stalled\($0)", limit: nil, on: loop) }
        let healthy = try await resolver.resolve("healthy", limit: .seconds(120), on: loop).addresses.get()
        #expect(healthy.map(\.ipAddress) == ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
        look.release()
        for query in stalled { #expect(try await query.addresses.get().count == 3) }
        try await resolver.waitForThreads()
    }

    @Test func `concurrent queries for a name share a lookup`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        let queries = (0..<5).map { _ in resolver.resolve("stalled", limit: nil, on: loop) }
        try await look.begun.wait(for: "the lookup") { !$0.isEmpty }
        queries[0].cancel()
        look.release()
        #expect(await error(of: queries[0])?.code == .cancelled)
        for query in queries[1...] { #expect(try await query.addresses.get().count == 3) }
        #expect(look.begun.value == ["stalled"])
    }

    @Test func `a cancelled query fails immediately, although the lookup continues`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        let query = resolver.resolve("stalled", limit: .seconds(60), on: loop)
        try await look.begun.wait(for: "the lookup") { !$0.isEmpty }
        query.cancel()
        let error = await error(of: query)
        #expect(error?.code == .cancelled)
        // If the first thread was slow to begin, a second one was started, which finds nothing to do.
        try await resolver.waitForThreads(atMost: 1)
        #expect(resolver.threads == 1)
        query.cancel()
        look.release()
        try await resolver.waitForThreads()
    }

    @Test func `a lookup has a timeout`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        let query = resolver.resolve("stalled", limit: .milliseconds(20), on: loop)
        let error = await error(of: query)
        #expect(error?.code == .resolveTimedOut)
        #expect(error?.processing == .neverSent)
        #expect(error?.reason.contains("'stalled' took longer than 0.02 seconds") == true)
        look.release()
        try await resolver.waitForThreads()
    }

    @Test func `too many stalled names have a specific error`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver(.init(width: 1, bound: 3, stallThreshold: .milliseconds(5)))
        let stalled = (0..<3).map { resolver.resolve("stalled\($0)", limit: nil, on: loop) }
        try await look.begun.wait(for: "three lookups") { $0.count == 3 }
        let error = await error(of: resolver.resolve("healthy", limit: .seconds(120), on: loop))
        #expect(error?.code == .nameTemporarilyUnresolvable)
        #expect(error?.reason.contains("3 lookups of other names") == true)
        look.release()
        for query in stalled { _ = try await query.addresses.get() }
        let later = try await resolver.resolve("healthy", limit: .seconds(120), on: loop).addresses.get()
        #expect(later.count == 3)
    }

    @Test(arguments: 1...20)
    func `each of many stalled names is looked up`(round: Int) async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver(.init(width: 1, bound: 9, stallThreshold: .microseconds(200)))
        let stalled = (0..<8).map { resolver.resolve("stalled\($0)", limit: nil, on: loop) }
        try await look.begun.wait(for: "eight lookups") { $0.count == 8 }
        look.release()
        for query in stalled { _ = try await query.addresses.get() }
        try await resolver.waitForThreads()
    }

    @Test func `thousands of cancelled queries leave no threads or promises`() async throws {
        let look = ScriptedLookup()
        let resolver = look.resolver()
        let queries = (0..<5000).map { number in
            let query = resolver.resolve("name\(number % 7)", limit: .seconds(60), on: loop)
            if number % 3 > 0 { query.cancel() }
            return query
        }
        for query in queries {
            switch await query.addresses.result {
            case .success(let addresses): #expect(addresses.count == 3)
            case .failure(let error): #expect((error as? HTTPError)?.code == .cancelled)
            }
        }
        try await resolver.waitForThreads()
    }

    @Test(
        "getaddrinfo's failures are told apart",
        arguments: [
            (-2, 0, HTTPError.Code.nameNotFound, "no host named 'x'"), (-5, 0, .nameNotFound, "has no address"),
            (-3, 0, .nameTemporarilyUnresolvable, "no name server responds"),
            (-4, 0, .nameLookupFailed, "Non-recoverable failure in name resolution"),
            (-10, 0, .nameLookupFailed, "Memory allocation failure"),
            (-11, 5, .nameLookupFailed, "Input/output error"),
            (-2, 24, .tooManyDescriptors, "so many descriptors open"),
        ] as [(Int32, Int32, HTTPError.Code, String)]
    )
    func failures(code: Int32, errno: Int32, expected: HTTPError.Code, reason: String) {
        guard case .failure(let error) = LookupResult.failure(code: code, errno: errno).result(for: "x") else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == expected)
        #expect(error.reason.contains(reason), "\(error.reason)")
        #expect(error.errno == (errno == 0 ? nil : errno))
        #expect(error.processing == .neverSent)
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The result.
    fileprivate var result: Result<Value, any Error> {
        get async {
            do { return .success(try await get()) } catch { return .failure(error) }
        }
    }
}
