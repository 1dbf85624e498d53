import HTTPLab
import NetworkClientCore
import Reachability
import ReachabilityCore
import Testing

@testable import NetworkClient

/// Stale responses in place of errors, and validation in the background.
@Suite(.timeLimit(.minutes(5)))
struct CacheFailureTests {
    private static let noPath = "200 x stale(NetworkClient.StaleReason.noPath)"

    private func lab(
        _ control: String = "max-age=1, stale-if-error=10",
        _ network: MadeUpNetwork? = nil,
        respond: @escaping @Sendable (AnsweringServer.Request, Int) -> [ServerStep]
    ) throws -> CacheLab {
        let count = Observed(0)
        return try CacheLab(
            .folder,
            { configuration in
                configuration.gate = network == nil ? .startsImmediately : .waitsForConnectivity(nil)
                configuration.connectivity = network
            },
            respond: { request in
                let number = count.update { count in
                    count += 1
                    return count
                }
                return number == 1 ? ServerStep.cached("x", control, "ETag: \"a\"") : respond(request, number)
            }
        )
    }

    @Test(arguments: [500, 502, 503, 504, 501, 404])
    func `a stale response takes the place of a server's error`(status: Int) async throws {
        let lab = try lab { _, _ in [.response("failed", status: "\(status) No")] }
        _ = try await lab.get()
        lab.advance(by: 5)
        let isReplaced = CacheStatus.isServerError(status)
        let stale = "200 x stale(NetworkClient.StaleReason.serverFailed(status: \(status)))"
        #expect(try await lab.get() == (isReplaced ? stale : "\(status) failed network"))
        lab.advance(by: 50)
        if isReplaced { #expect(try await lab.get() == "\(status) failed network") }
    }

    @Test func `a stale response takes the place of a lost connection`() async throws {
        let lab = try lab { _, _ in [.reset] }
        _ = try await lab.get()
        lab.advance(by: 5)
        #expect(try await lab.get() == "200 x stale(NetworkClient.StaleReason.unreachable)")
        lab.advance(by: 50)
        await #expect(throws: HTTPError.self) { try await lab.get() }
        let policy = CachePolicy.useProtocolElseStale
        #expect(try await lab.get("", [:], policy) == "200 x stale(NetworkClient.StaleReason.unreachable)")
    }

    @Test func `a head that was prepared for one origin is not sent to another`() async throws {
        let other = try AnsweringServer { _ in [.response("here")] }
        let location = "Location: \(other.url)/new"
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    if request.head.hasPrefix("GET /cookie ") { return [.response("", headers: ["Set-Cookie: a=1"])] }
                    let control = "Cache-Control: max-age=1, stale-if-error=10"
                    return [.response("moved", status: "301 Moved Permanently", headers: [location, control])]
                }
            ])
        ])
        let clock = CacheLab.Clock()
        let cache = HTTPCache(CacheMemory(limit: 1 << 20), folder: nil, limit: 1 << 20) { clock.now }
        // Cookies of a name belong to no address.
        let url = "http://localhost:\(server.port)"
        var configuration = HTTPConfiguration(timeouts: .lasting, cookies: .store(CookieStore()), cache: cache)
        let first = try HTTPSession(baseURL: url, configuration: configuration)
        _ = try await first.get("cookie").response()
        #expect(try await first.get("old").string() == "here")
        try await server.stop()
        clock.advance(by: 5)
        configuration.authentication = .init(tokens: [.init(for: url, isPreemptive: true) { _ in "t" }])
        let second = try HTTPSession(baseURL: url, configuration: configuration)
        #expect(try await second.get("old").string() == "here")
        #expect(other.requests.value.map(\.target) == ["/new", "/new"])
        #expect(other.requests.value.allSatisfy { $0["Cookie"] == nil && $0["Authorization"] == nil })
    }

    @Test func `a response that has to be validated takes the place of no error`() async throws {
        let lab = try lab("max-age=1, stale-if-error=10, must-revalidate") { _, _ in [.reset] }
        _ = try await lab.get()
        lab.advance(by: 5)
        await #expect(throws: HTTPError.self) { try await lab.get("", [:], .useProtocolElseStale) }
    }

    @Test(arguments: ["", "other"])
    func `a response that an unsafe request invalidated meanwhile takes the place of no error`(
        path: String
    ) async throws {
        let latch = try ServerLatch()
        let lab = try lab { request, _ in request.method == "PUT" ? [.response("stored")] : [.await(latch), .reset] }
        _ = try await lab.get()
        lab.advance(by: 5)
        let request = lab.session.get("")
        try await lab.server.requests.wait(for: "the validation") { $0.count == 2 }
        _ = try await lab.session.put(path, body: .text("two")).response()
        latch.open()
        if path.isEmpty {
            await #expect(throws: HTTPError.self) { try await request.response() }
        } else {
            #expect(try await request.response().source == .stale(.unreachable))
        }
    }

    @Test func `without a path, a stale response is used immediately, if the request allows it`() async throws {
        let network = MadeUpNetwork(.wifi)
        let lab = try lab("max-age=1", network) { _, _ in ServerStep.notModified }
        _ = try await lab.get()
        lab.advance(by: 5)
        network.become(.notReachable)
        #expect(try await lab.get("", [:], .useProtocolElseStale) == Self.noPath)
        #expect(try await lab.get("", [.cacheControl: "stale-if-error=60"]) == Self.noPath)
        // Without permission, the request waits.
        let waiting = lab.session.get("", options: .init(startsAtOnce: false))
        _ = try await waiting.startAndWait()
        network.become(.wifi)
        #expect(try await waiting.response().source == .validated)
    }

    @Test func `a stale response is validated in the background, through the gate, and once`() async throws {
        let latch = try ServerLatch()
        let lab = try lab("max-age=1, stale-while-revalidate=60") { _, _ in [.await(latch)] + ServerStep.notModified }
        _ = try await lab.get()
        lab.advance(by: 5)
        for _ in 1...3 { #expect(try await lab.get() == "200 x stale(NetworkClient.StaleReason.revalidating)") }
        let background = lab.session.requests
        #expect(background.count == 1)
        latch.open()
        _ = await background.first?.ending()
        #expect(try await lab.get() == "200 x cache")
        #expect(lab.requests("If-None-Match") == ["GET -", "GET \"a\""])
    }

    @Test(arguments: ["", "Content-Length: 1000000000000\r\n"])
    func `a validation in the background ends if the response is too large to be stored`(length: String) async throws {
        let latch = try ServerLatch()
        let lab = try lab("max-age=1, stale-while-revalidate=60") { _, _ in
            let head = "HTTP/1.1 200 OK\r\n\(length)Cache-Control: max-age=10\r\n\r\n"
            let body = length.isEmpty ? ServerStep.flood([UInt8](repeating: 0, count: 65_536)) : .hold
            return [.await(latch), .send(head), body]
        }
        _ = try await lab.get()
        lab.advance(by: 5)
        #expect(try await lab.get() == "200 x stale(NetworkClient.StaleReason.revalidating)")
        let background = try #require(lab.session.requests.first)
        latch.open()
        let ending = await background.ending()
        let error = #expect(throws: HTTPError.self) { try ending.get() }
        #expect(error?.code == .bodyTooLarge)
        let stored = try await lab.get("", [:], .returnCacheDontLoad)
        #expect(stored == "200 x stale(NetworkClient.StaleReason.policy)")
    }
}
