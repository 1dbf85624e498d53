import HTTPLab
import Synchronization
import Testing

@testable import NetworkClient

/// Credentials that are sent before a server requires them.
@Suite(.timeLimit(.minutes(5)))
struct PreemptiveTests {
    private static let anna = Credential(user: "anna", password: "secret")
    /// `anna:secret`.
    private static let basic = "Basic YW5uYTpzZWNyZXQ="

    /// Accepts requests with this value, and challenges the others.
    private func server(
        _ challenges: [String] = ["Basic realm=\"r\""],
        admits value: String = basic
    ) throws -> AnsweringServer {
        try AnsweringServer { request in
            if let redirect = RedirectLab.redirect(request) { return [redirect] }
            if request["Authorization"]?.hasPrefix(value) == true { return [.response("in")] }
            let fields = challenges.map { "WWW-Authenticate: \($0)" }
            return [.response("out", status: "401 Unauthorized", headers: fields)]
        }
    }

    private func session(_ server: AnsweringServer, _ policy: AuthenticationPolicy) throws -> HTTPSession {
        try HTTPSession(baseURL: server.url, configuration: .init(timeouts: .lasting, authentication: policy))
    }

    private func values(_ server: AnsweringServer) -> [String?] { server.requests.value.map { $0["Authorization"] } }

    @Test func `a preemptive credential is sent with the first request, to its origin only`() async throws {
        let other = try server()
        let server = try server()
        let session = try session(
            server,
            .init(credentials: [.init(Self.anna, for: server.url, realm: "r", isPreemptive: true)])
        )
        #expect(try await session.get("a").response().status == 200)
        #expect(try await session.get("302/to/b").response().status == 200)
        #expect(try await session.get("\(other.url)/a").response().status == 401)
        #expect(values(server) == [Self.basic, Self.basic, Self.basic])
        #expect(values(other) == [nil])
    }

    @Test func `a preemptive credential that is refused is not sent again`() async throws {
        let server = try server(admits: "nothing")
        let session = try session(
            server,
            .init(credentials: [.init(Self.anna, for: server.url, isPreemptive: true)])
        )
        #expect(try await session.get("a").response().status == 401)
        #expect(values(server) == [Self.basic])
    }

    @Test func `a server that wants Digest gets it after the preemptive credential, and from then on`() async throws {
        let server = try server(["Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"], admits: "Digest ")
        let session = try session(
            server,
            .init(credentials: [.init(Self.anna, for: server.url, isPreemptive: true)])
        )
        #expect(try await session.get("a").response().status == 200)
        #expect(try await session.get("b").response().status == 200)
        #expect(values(server).map { $0?.prefix { $0 != " " } } == ["Basic", "Digest", "Digest"])
    }

    @Test func `the credential of a request or its URL is sent preemptively where the options say so`() async throws {
        let server = try server()
        let session = try session(server, .none)
        let credential = RequestOptions(credential: Self.anna, isPreemptive: true)
        #expect(try await session.get("a", options: credential).response().status == 200)
        let url = "http://anna:secret@127.0.0.1:\(server.port)/b"
        #expect(try await session.get(url, options: .init(isPreemptive: true)).response().status == 200)
        #expect(values(server) == [Self.basic, Self.basic])
    }

    @Test func `a preemptive source obtains its token once before the first requests`() async throws {
        let server = try server(["Bearer"], admits: "Bearer t")
        let calls = Atomic(0)
        let tokens = BearerTokens(for: server.url, isPreemptive: true) { refused in
            #expect(refused == nil)
            calls.add(1, ordering: .relaxed)
            return "t"
        }
        let session = try session(server, .init(tokens: [tokens]))
        let requests = (0..<20).map { session.get("\($0)") }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(values(server).allSatisfy { $0 == "Bearer t" })
    }

    @Test func `without a first token a request is not sent`() async throws {
        struct NoToken: Error {}
        let server = try server(["Bearer"])
        let tokens = BearerTokens(for: server.url, isPreemptive: true) { _ in throw NoToken() }
        let request = try session(server, .init(tokens: [tokens])).get("a")
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .tokenRefreshFailed)
        #expect(error?.processing == .neverSent)
        #expect(error?.cause is NoToken)
        #expect(server.requests.value.isEmpty)
    }

    @Test(arguments: [["NTLM"], ["Negotiate", "NTLM"], ["NTLM TlRMTVNTUAAC"]])
    func `NTLM as the only scheme is an error that names it`(challenges: [String]) async throws {
        let server = try server(challenges)
        let request = try session(server, .init(credentials: [.init(Self.anna, for: server.url)])).get("a")
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .authenticationFailed)
        #expect(error?.processing == .answered)
        #expect(error?.response?.status == .unauthorized)
        #expect(error?.reason.contains("offers only NTLM") == true)
        #expect(values(server) == [nil])
    }

    @Test func `NTLM besides another scheme is ignored, and the response without credentials`() async throws {
        let server = try server(["NTLM", "Basic realm=\"r\""])
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        #expect(try await session.get("a").response().status == 200)
        let only = try self.server(["NTLM"])
        #expect(try await self.session(only, .none).get("a").response().status == 401)
    }
}
