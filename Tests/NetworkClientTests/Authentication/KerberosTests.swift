import FoundationEssentials
import HTTPLab
import NIOCore
import NetworkClientNegotiate
import Testing

@testable import NetworkClient

/// Negotiate with MIT Kerberos: a real KDC, a server that checks the tokens, and squid.
@Suite(
    .enabled(if: KerberosLab.isInstalled, Comment(rawValue: KerberosLab.advice)),
    .kerberosLab,
    .timeLimit(.minutes(5))
) struct KerberosTests {
    private let lab: KerberosLab
    private let server: KerberosServer
    private let cache: String

    init() throws {
        lab = try #require(KerberosLabTrait.lab)
        server = try KerberosServer(lab)
        cache = try lab.ticket()
    }

    private func session(
        for origins: [String]? = nil,
        cache: String? = nil,
        change: (inout HTTPConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration(timeouts: .lasting)
        configuration.authentication.negotiate = .init(
            for: origins ?? [server.url],
            credentialCache: cache ?? self.cache
        )
        try change(&configuration)
        return try HTTPSession(baseURL: server.url, configuration: configuration)
    }

    /// The server's description of an authenticated request.
    private struct Seen: Decodable, Hashable {
        var user: String
        var delegated = false
        var size = 0
    }

    private func error(_ request: DataRequest) async -> HTTPError? {
        do throws(HTTPError) {
            _ = try await request.response()
            return nil
        } catch {
            return error
        }
    }

    @Test func `the user's ticket authenticates a request, and later ones in advance`() async throws {
        let session = try session()
        let first = try await session.get("/").response()
        #expect(first.status == 200 && first.metrics.attempts == 2)
        let alice = Seen(user: "alice@LAB.TEST")
        #expect(try JSONDecoder().decode(Seen.self, from: Data(first.bytes)) == alice)
        let second = session.post("/", body: .bytes([1, 2, 3]))
        #expect(try await second.decoded(Seen.self) == Seen(user: "alice@LAB.TEST", size: 3))
        #expect(try await second.response().metrics.attempts == 1)
    }

    @Test func `the body of an upload is sent again after the challenge`() async throws {
        let seen = try await session().post("/", body: .bytes(Array(repeating: 7, count: 1 << 20))).decoded(Seen.self)
        #expect(seen == Seen(user: "alice@LAB.TEST", size: 1 << 20))
    }

    @Test func `many concurrent requests are authenticated`() async throws {
        let session = try session()
        let requests = (0..<30).map { _ in session.get("/") }
        for request in requests { #expect(try await request.decoded(Seen.self).user == "alice@LAB.TEST") }
    }

    @Test func `the user's ticket is delegated only if that is wanted`() async throws {
        #expect(try await session().get("/").decoded(Seen.self).delegated == false)
        let delegating = try session { $0.authentication.negotiate?.delegatesCredentials = true }
        #expect(try await delegating.get("/").decoded(Seen.self).delegated)
    }

    @Test func `other origins get no token, not even after a redirect, and nor do requests without authentication`()
        async throws
    {
        let other = "http://127.0.0.1:\(server.port)"
        #expect(try await session().get("\(other)/").response().status == 401)
        #expect(try await session().get("/", options: .init(authenticates: false)).response().status == 401)
        #expect(try await session().get("/", headers: [.authorization: "Token x"]).response().status == 401)
    }

    @Test func `a redirect is followed once the server is verified`() async throws {
        let response = try await session().get("redirect").response()
        #expect(response.status == 200 && response.redirects.count == 1)
    }

    @Test func `a stream and a download are authenticated`() async throws {
        let session = try session()
        let folder = try LabFolder()
        let file = try await session.download("/", to: "\(folder.path)/file").response()
        #expect(file.status == 200)
        let body = try Data(contentsOf: URL(filePath: "\(folder.path)/file"))
        #expect(try JSONDecoder().decode(Seen.self, from: body).user == "alice@LAB.TEST")
        let streamed = try await session.stream(.get, "/").response().body.collect(upTo: 1 << 20)
        #expect(try JSONDecoder().decode(Seen.self, from: Data(streamed.readableBytesView)).user == "alice@LAB.TEST")
    }

    @Test func `a server that does not prove its identity is an error`() async throws {
        let silent = try #require(await error(session().get("silent")))
        #expect(silent.code == .authenticationFailed && silent.response?.status.code == 200)
        #expect(silent.reason.contains("did not prove its identity"))
        let wrong = try #require(await error(session().get("wrong")))
        #expect(wrong.code == .authenticationFailed && wrong.cause is GSSAPIError)
        #expect(wrong.reason.contains("gss_init_sec_context"))
    }

    @Test func `without mutual authentication only a wrong proof is an error`() async throws {
        let session = try session { $0.authentication.negotiate?.requiresMutualAuthentication = false }
        #expect(try await session.get("silent").response().status == 200)
        #expect(await error(session.get("wrong"))?.code == .authenticationFailed)
    }

    @Test func `a refused ticket is the response`() async throws {
        let response = try await session().get("refuse").response()
        #expect(response.status == 401 && response.metrics.attempts == 2)
    }

    // MARK: No token

    @Test func `no ticket is an error with the texts of GSSAPI and the remedy`() async throws {
        let error = try #require(await error(session(cache: "FILE:/nowhere/cache").get("/")))
        #expect(error.code == .authenticationFailed && error.processing == .answered)
        #expect(error.response?.status.code == 401)
        let cause = try #require(error.cause as? GSSAPIError)
        #expect(!cause.majorText.isEmpty && cause.majorStatus != 0 && cause.minorStatus != 0)
        #expect(error.reason.contains("FILE:/nowhere/cache"), "\(error.reason)")
        #expect(error.reason.hasSuffix("; obtain a ticket with kinit"), "\(error.reason)")
    }

    @Test func `an expired ticket is an error that says so`() async throws {
        let error = try #require(await error(session(cache: lab.expiredTicket()).get("/")))
        #expect(error.code == .authenticationFailed && error.cause is GSSAPIError)
        #expect(error.reason.contains("expired"), "\(error.reason)")
    }

    @Test func `a service that the realm does not know is an error that says so`() async throws {
        let error = try await failure(atHost: "unknown.lab.test")
        #expect(error.reason.contains("not found in Kerberos database"), "\(error.reason)")
    }

    @Test func `a realm without a server is an error that names the realm`() async throws {
        let error = try await failure(atHost: "web.other.test")
        #expect(error.reason.contains("OTHER.TEST"), "\(error.reason)")
    }

    @Test func `the name of the host is not made canonical`() async throws {
        // It has no address here: a lookup would fail.
        let session = try session(for: ["http://web.lab.test"]) { try proxied(&$0) }
        #expect(try await session.get("http://web.lab.test/").decoded(Seen.self).user == "alice@LAB.TEST")
    }

    /// Sends requests to the server whatever their host, as to a proxy.
    private func proxied(_ configuration: inout HTTPConfiguration) throws {
        configuration.proxy = .all(try ProxyServer("http://127.0.0.1:\(server.port)"))
    }

    private func failure(atHost host: String) async throws -> HTTPError {
        let session = try session(for: ["http://\(host)"]) { try proxied(&$0) }
        let error = try #require(await error(session.get("http://\(host)/")))
        #expect(error.code == .authenticationFailed && error.cause is GSSAPIError)
        return error
    }

    @Test func `another scheme is used if there is no ticket`() async throws {
        let session = try session(cache: "FILE:/nowhere/cache") {
            $0.authentication.credentials = [.init(.init(user: "mufasa", password: "circle"), for: server.url)]
        }
        #expect(try await session.get("basic").response().bytes == Array("basic".utf8))
    }

    @Test func `a URL's own credential takes precedence`() async throws {
        let response = try await session().get("http://mufasa:circle@localhost:\(server.port)/basic").response()
        #expect(response.bytes == Array("basic".utf8))
    }

    // MARK: Proxies

    @Test(.enabled(if: RealProxy.isInstalled(.squid), Comment(rawValue: RealProxy.advice(.squid))))
    func `squid is given a ticket for requests and for tunnels`() async throws {
        let authority = try CertificateAuthority()
        let folder = try LabFolder()
        try await ProxyLab.run { proxyLab in
            let nginx = try proxyLab.nginx(authority.issue(), folder)
            var options = RealProxy.Options()
            options.keytab = lab.keytab
            options.ports = [nginx.securePort]
            let proxy = try RealProxy(.squid, options, in: proxyLab.lab)
            for host in ["localhost", "127.0.0.1"] {
                let server = try ProxyServer("http://\(host):\(proxy.port)")
                let session = try proxyLab.session(.all(server)) {
                    $0.tls = try .trusting(authority)
                    $0.authentication.negotiate = .init(for: [], credentialCache: cache)
                }
                for url in ["http://127.0.0.1:\(nginx.port)/hello", "https://127.0.0.1:\(nginx.securePort)/hello"] {
                    guard host == "localhost" else {
                        // There is no service of that name.
                        let error = try #require(await error(session.get(url)))
                        #expect(error.code == .proxyAuthenticationRequired && error.cause is GSSAPIError)
                        #expect(error.proxy == "\(server)" && error.reason.contains("Kerberos database"))
                        continue
                    }
                    for _ in 0..<3 { #expect(try await session.get(url).response().bytes == Array("hello".utf8)) }
                }
            }
        }
    }

    @Test func `the settings are those that were set, and an invalid origin is an error`() throws {
        var policy = AuthenticationPolicy()
        #expect(policy.negotiate == nil)
        policy.negotiate = .init(for: ["https://a.example"])
        #expect(policy.negotiate?.origins == ["https://a.example"])
        #expect(throws: HTTPError.self) { try session(for: ["no url"]) }
    }
}

/// A trait of the suite whose tests use a ``KerberosLab``, which is started before them and stopped after them.
private struct KerberosLabTrait: SuiteTrait, TestScoping {
    /// The lab of the test that runs.
    @TaskLocal static var lab: KerberosLab?

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let lab = try KerberosLab()
        try await Self.$lab.withValue(lab, operation: function)
        #expect(throws: Never.self, "\(lab.log)") { try lab.ticket() }
    }
}

extension Trait where Self == KerberosLabTrait {
    /// Starts a ``KerberosLab`` for the suite.
    fileprivate static var kerberosLab: Self { .init() }
}
