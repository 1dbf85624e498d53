import FoundationEssentials
import HTTPLab
import Locking
import NIOCore
import NIOPosix
import Testing

@testable import NetworkClient

/// The exchange of several tokens, with a mechanism whose tokens are numbers.
@Suite(.timeLimit(.minutes(5)))
struct NegotiationTests {
    /// A mechanism that sends `rounds` tokens, `1`, `2` and so on, and expects them back.
    private struct Counting: SecurityMechanism {
        var origins: [String]
        var rounds = 3
        let includesProxies = true
        var requiresMutualAuthentication = true

        func makeContext(for host: String) -> any SecurityContext { Context(rounds: rounds) }

        final class Context: SecurityContext {
            private let rounds: Int
            private let sent = Lock(0)

            init(rounds: Int) { self.rounds = rounds }

            struct Wrong: Error {}

            func step(_ token: [UInt8]?) async throws -> SecurityStep {
                if MultiThreadedLoops.isInLoop { throw Wrong() }
                return try sent.withLock { sent in
                    guard token == (sent == 0 ? nil : [UInt8(sent)]) else { throw Wrong() }
                    guard sent < rounds else { return .init(token: nil, isComplete: true) }
                    sent += 1
                    return .init(token: [UInt8(sent)], isComplete: false)
                }
            }
        }
    }

    private enum MultiThreadedLoops {
        /// Whether the current thread runs an event loop.
        static var isInLoop: Bool { MultiThreadedEventLoopGroup.currentEventLoop != nil }
    }

    /// A server that authenticates connections by `rounds` tokens.
    private func server(
        rounds: Int = 3,
        status: Int = 401,
        fields: (client: String, server: String) = ("Authorization", "WWW-Authenticate")
    ) throws -> AnsweringServer {
        let last = Lock([Int: UInt8]())
        return try AnsweringServer { request in
            let value = request[fields.client]?.dropFirst("Negotiate ".count)
            let bytes = value.flatMap { Data(base64Encoded: String($0)) }
            guard let number = bytes?.first else {
                return [.response("", status: "\(status) Challenge", headers: ["\(fields.server): Negotiate"])]
            }
            // A token after the first one counts only on the connection of the one before.
            let isNext = last.withLock { last in
                defer { last[request.connection] = number }
                return number == 1 || last[request.connection] == number - 1
            }
            guard isNext else {
                return [.response("", status: "\(status) Other", headers: ["\(fields.server): Negotiate"])]
            }
            let field = "\(fields.server): Negotiate \(Data([number]).base64EncodedString())"
            let isDone = Int(number) == rounds
            return [.response(isDone ? "in" : "more", status: isDone ? "200 OK" : "\(status) More", headers: [field])]
        }
    }

    private func session(_ server: AnsweringServer, rounds: Int = 3) throws -> HTTPSession {
        var configuration = HTTPConfiguration(timeouts: .lasting, maximumConnectionsPerHost: 3)
        configuration.authentication.mechanism = Counting(origins: [server.url], rounds: rounds)
        return try HTTPSession(baseURL: server.url, configuration: configuration)
    }

    @Test func `several tokens are sent on one connection`() async throws {
        let server = try server()
        let response = try await session(server).get("/").response()
        #expect(response.status == 200 && response.bytes == Array("in".utf8))
        #expect(response.metrics.attempts == 4)
        let requests = server.requests.value
        #expect(requests.count == 4)
        #expect(Set(requests.dropFirst().map(\.connection)).count == 1)
    }

    @Test func `concurrent requests do not use each other's connections during an exchange of tokens`() async throws {
        let server = try server()
        let session = try session(server)
        let requests = (0..<24).map { session.get("\($0)") }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(Set(server.requests.value.map(\.connection)).count <= 3)
    }

    @Test func `a request that is cancelled during the exchange leaves no connection reserved`() async throws {
        let reached = Observed(false)
        let first = Lock(true)
        let server = try AnsweringServer { request in
            let isFirst = first.withLock { first in
                defer { if request["Authorization"] != nil { first = false } }
                return first
            }
            guard isFirst else { return [.response("free")] }
            guard request["Authorization"] != nil else {
                return [.response(status: "401 No", headers: ["WWW-Authenticate: Negotiate"])]
            }
            return [.response(status: "401 No", headers: ["WWW-Authenticate: Negotiate AQ=="])]
        }
        var configuration = HTTPConfiguration(timeouts: .lasting, maximumConnectionsPerHost: 1)
        configuration.authentication.mechanism = Waiting(origins: [server.url], reached: reached)
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        let request = session.get("/")
        try await reached.wait(for: "the second step") { $0 }
        request.cancel()
        #expect(try await session.get("/", options: .init(authenticates: false)).response().status == 200)
        // The server of a connection in the middle of a handshake gets no other request on it.
        #expect(server.requests.value.map(\.connection) == [0, 0, 1])
    }

    /// A mechanism whose second step never ends.
    private struct Waiting: SecurityMechanism {
        var origins: [String]
        let reached: Observed<Bool>
        let includesProxies = false
        let requiresMutualAuthentication = false

        func makeContext(for host: String) -> any SecurityContext { Context(reached: reached) }

        struct Context: SecurityContext {
            let reached: Observed<Bool>

            func step(_ token: [UInt8]?) async throws -> SecurityStep {
                guard token != nil else { return .init(token: [1], isComplete: false) }
                reached.update { $0 = true }
                try? await Task.sleep(for: .seconds(3600))
                throw CancellationError()
            }
        }
    }

    /// A mechanism of one token, whose contexts after the first one wait before they have it, and ignore cancellation.
    private struct Slow: SecurityMechanism {
        var origins: [String]
        let includesProxies = false
        let requiresMutualAuthentication = false
        /// The numbers of contexts that were made, that wait, and that were released.
        let made = Observed(0)
        let waiting = Observed(0)
        let released = Observed(0)
        /// Whether the tokens are ready.
        let isReady = Observed(false)

        func makeContext(for host: String) -> any SecurityContext {
            made.update { $0 += 1 }
            return Context(self, isFirst: made.value == 1)
        }

        final class Context: SecurityContext {
            private let mechanism: Slow
            private let isFirst: Bool

            init(_ mechanism: Slow, isFirst: Bool) { (self.mechanism, self.isFirst) = (mechanism, isFirst) }

            deinit { mechanism.released.update { $0 += 1 } }

            func step(_ token: [UInt8]?) async throws -> SecurityStep {
                guard !isFirst else { return .init(token: [1], isComplete: true) }
                mechanism.waiting.update { $0 += 1 }
                let isReady = mechanism.isReady
                _ = try await Task.detached { try await isReady.wait(for: "the token") { $0 } }.value
                return .init(token: [1], isComplete: true)
            }
        }
    }

    @Test func `a request that is cancelled while its first token is obtained leaves nothing behind`() async throws {
        let server = try server(rounds: 1)
        let mechanism = Slow(origins: [server.url])
        var configuration = HTTPConfiguration(timeouts: .lasting)
        configuration.authentication.mechanism = mechanism
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        #expect(try await session.get("/").response().status == 200)
        let request = session.get("/")
        try await mechanism.waiting.wait(for: "the token's step") { $0 == 1 }
        request.cancel()
        _ = try? await request.response()
        mechanism.isReady.update { $0 = true }
        try await mechanism.released.wait(for: "the end of both contexts") { $0 == 2 }
        withExtendedLifetime(session) {}
    }

    @Test func `an exchange that never ends is the server's response`() async throws {
        let server = try server(rounds: 100)
        let response = try await session(server, rounds: 100).get("/").response()
        #expect(response.status == 401 && response.metrics.attempts == 9)
    }

    @Test func `a forwarding proxy may need several tokens too`() async throws {
        let server = try server(status: 407, fields: ("Proxy-Authorization", "Proxy-Authenticate"))
        var configuration = HTTPConfiguration(timeouts: .lasting)
        configuration.proxy = .all(try ProxyServer(server.url))
        configuration.authentication.mechanism = Counting(origins: [])
        let session = try HTTPSession(configuration: configuration)
        let response = try await session.get("http://origin.example/").response()
        #expect(response.status == 200 && response.metrics.attempts == 4)
    }

    @Test func `a tunnel may need several tokens on one connection`() async throws {
        let numbers = Lock([(connection: Int, token: UInt8)]())
        let proxy = try ScriptedServer { number in
            [
                .custom { connection in
                    while true {
                        let request = try connection.readRequest()
                        let value = request.field("Proxy-Authorization")?.dropFirst("Negotiate ".count)
                        let token = value.flatMap { Data(base64Encoded: String($0)) }?.first
                        token.map { token in numbers.withLock { $0.append((number, token)) } }
                        let proof = token.map { " " + Data([$0]).base64EncodedString() } ?? ""
                        if token == 3 {
                            try connection.perform(.response("tunnel"))
                            return try connection.perform(.hold)
                        }
                        try connection.perform(
                            .response("no", status: "407 No", headers: ["Proxy-Authenticate: Negotiate\(proof)"])
                        )
                    }
                }
            ]
        }
        var configuration = HTTPConfiguration(timeouts: .lasting)
        configuration.timeouts.tls = .milliseconds(100)
        configuration.proxy = .all(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        configuration.authentication.mechanism = Counting(origins: [])
        let session = try HTTPSession(configuration: configuration)
        // The tunnel is open once TLS with the origin begins, which nobody answers here.
        let failure = await #expect(throws: HTTPError.self) {
            try await session.get("https://origin.example/").response()
        }
        #expect(failure?.code == .tlsTimedOut || failure?.code == .tlsFailed, "\(String(describing: failure))")
        let seen = numbers.withLock { $0 }
        #expect(seen.map(\.token) == [1, 2, 3])
        #expect(Set(seen.map(\.connection)).count == 1)
    }

    @Test func `an origin that accepts tokens gets one with the next request`() async throws {
        let server = try server(rounds: 1)
        let session = try session(server, rounds: 1)
        #expect(try await session.get("a").response().metrics.attempts == 2)
        #expect(try await session.get("b").response().metrics.attempts == 1)
        #expect(server.requests.value.map { $0["Authorization"] } == [nil, "Negotiate AQ==", "Negotiate AQ=="])
    }
}
