import HTTPLab
import Testing

@testable import NetworkClient

/// Credentials of a netrc file.
@Suite(.timeLimit(.minutes(5)))
struct NetrcTests {
    /// `anna:secret`.
    private static let basic = "Basic YW5uYTpzZWNyZXQ="

    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    /// Challenges requests without credentials.
    private func server(to origin: String = "") throws -> AnsweringServer {
        try AnsweringServer { request in
            if let redirect = RedirectLab.redirect(request, at: origin) { return [redirect] }
            if request["Authorization"] != nil { return [.response("in")] }
            return [.response("out", status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"r\""])]
        }
    }

    private func session(
        _ server: AnsweringServer,
        _ text: String,
        isPreemptive: Bool = false
    ) throws -> HTTPSession {
        let source = NetrcSource.file(try folder.write("netrc", text), isPreemptive: isPreemptive)
        return try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, authentication: .init(netrc: source))
        )
    }

    private func values(_ server: AnsweringServer) -> [String?] { server.requests.value.map { $0["Authorization"] } }

    @Test(arguments: [false, true])
    func `a host's entry is used, before a challenge only by option`(isPreemptive: Bool) async throws {
        let server = try server()
        let text = "machine 127.0.0.1 login anna password secret\n"
        #expect(try await session(server, text, isPreemptive: isPreemptive).get("a").response().status == 200)
        #expect(values(server) == (isPreemptive ? [Self.basic] : [nil, Self.basic]))
    }

    @Test func `the entry of another host is not used, and credentials of the policy come first`() async throws {
        let server = try server()
        let session = try session(server, "machine localhost login anna password secret\n", isPreemptive: true)
        #expect(try await session.get("a").response().status == 401)
        let source = NetrcSource.file(try folder.write("other", "default login x password y"), isPreemptive: true)
        let policy = AuthenticationPolicy(
            credentials: [.init(.init(user: "anna", password: "secret"), for: server.url)],
            netrc: source
        )
        let both = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, authentication: policy)
        )
        #expect(try await both.get("a").response().status == 200)
        #expect(values(server) == [nil, nil, Self.basic])
    }

    @Test func `after a redirect to another host only that host's own entry is used`() async throws {
        let target = try server()
        let leading = try server(to: "http://localhost:\(target.port)")
        let entry = "machine 127.0.0.1 login x password y\n"
        for (text, value) in [
            (entry, nil), (entry + "default login anna password secret", nil), ("default login x password y", nil),
            (entry + "machine localhost login anna password secret", Self.basic),
        ] {
            _ = try await session(leading, text, isPreemptive: true).get("302/to/a").response()
            #expect(values(target).last == value)
        }
        #expect(values(leading).allSatisfy { $0 == "Basic eDp5" })
    }

    @Test func `after a redirect from https to http no entry is used`() throws {
        let path = try folder.write("netrc", "machine a login x password y")
        let netrc = try #require(try NetrcCredentials(.file(path)))
        let (secure, plain) = (try HTTPURL("https://a/").origin, try HTTPURL("http://a/").origin)
        #expect(netrc.credential(at: plain, from: secure) == nil)
        #expect(netrc.credential(at: plain, from: plain)?.user == "x")
        #expect(netrc.credential(at: secure, from: plain)?.user == "x")
    }

    @Test func `the password of the user in a URL is taken from that user's entry`() async throws {
        let server = try server()
        let text = "machine 127.0.0.1 login x password y\nmachine 127.0.0.1 login anna password secret\n"
        let session = try session(server, text)
        let url = "http://anna@127.0.0.1:\(server.port)/a"
        #expect(try await session.get(url).response().status == 200)
        #expect(values(server) == [nil, Self.basic])
    }

    @Test func `a file that is missing or broken is an error of the configuration that names it`() throws {
        func error(_ path: String) -> HTTPError? {
            #expect(throws: HTTPError.self) {
                try HTTPSession(configuration: .init(authentication: .init(netrc: .file(path))))
            }
        }
        let missing = error("\(folder.path)/missing")
        #expect(missing?.code == .invalidConfiguration)
        #expect(missing?.reason.contains("/missing can't be read: ") == true)
        let broken = error(try folder.write("broken", "machine a\nlogin \"b\n"))
        #expect(broken?.code == .invalidConfiguration)
        #expect(broken?.reason.contains("/broken' can't be used: line 2: ") == true)
    }
}
