import HTTPLab
import Locking
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Searches everything that a program could print for secrets.
@Suite(.timeLimit(.minutes(5)))
struct SecretsTests {
    /// Records every event, like a verbose log.
    private final class Scribe: EventMonitor {
        let text = Lock("")

        func request(_ request: RequestHandle, did event: RequestEvent) {
            var text = "\(request.request) \(event) \(String(reflecting: event))\n"
            dump(event, to: &text)
            self.text.withLock { $0 += text }
        }
    }

    private static let secrets = [
        "hunter2", "hunter3", "token-one", "token-two",
        // Both of Basic's values.
        "YW5uYTpodW50ZXIy", "YmVydGE6aHVudGVyMw==",
        // The Digest hashes of the passwords: that of `anna:strong:hunter2`.
        "fa676f65f293a25ae5f1b8c33d80adc5",
    ]

    private func written(_ values: Any...) -> String {
        values.reduce(into: "") { text, value in
            text += "\(value) \(String(reflecting: value))\n"
            dump(value, to: &text)
        }
    }

    private func check(_ text: String, _ what: String) {
        for secret in Self.secrets { #expect(!text.contains(secret), "\(what) shows \(secret)") }
    }

    /// Challenges with each scheme, redirects, refuses.
    private func server() throws -> AnsweringServer {
        try AnsweringServer { request in
            if let redirect = RedirectLab.redirect(request) { return [redirect] }
            let value = request["Authorization"] ?? ""
            if request.path == "/basic", value.hasPrefix("Basic") { return [.response()] }
            if request.path == "/digest", value.hasPrefix("Digest") { return [.response()] }
            let fields = [
                "WWW-Authenticate: Digest realm=strong, nonce=n, qop=auth", "WWW-Authenticate: Basic realm=weak",
            ]
            return [.response(status: "401 Unauthorized", headers: request.path == "/basic" ? [fields[1]] : fields)]
        }
    }

    @Test func `a dump shows nothing that a description hides`() async throws {
        let proxy = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let server = try ProxyServer("http://anna:hunter2@127.0.0.1:\(proxy.port)")
        let fields: HTTPFields = [.authorization: "Basic YW5uYTpodW50ZXIy", .userAgent: "shown"]
        let configuration = HTTPConfiguration(headers: fields, timeouts: .lasting, proxy: .all(server))
        let session = try HTTPSession(configuration: configuration)
        let request = session.get("http://origin.example/")
        #expect(try await request.response().status == 200)
        let value = proxy.connections.flatMap(\.requests).first?.field("Proxy-Authorization")
        #expect(value == "Basic YW5uYTpodW50ZXIy")
        let proof = ProxyProof(value: "Basic YW5uYTpodW50ZXIy")
        check(written(request, session, proof), "a request")
        let text = written(configuration)
        check(text, "a configuration")
        #expect(text.contains("shown") && text.contains("Authorization: (hidden)") && text.contains("maximumBodySize"))
        let environment = ProxyEnvironment { $0 == "http_proxy" ? "http://anna:hunter2@proxy" : nil }
        let login = SOCKS5Dialogue.Login(user: "anna", password: "hunter2")
        let dialogue = SOCKS5Dialogue(to: .name("x"), port: 1, login: login)
        check(written(environment, environment.http as Any, login, dialogue), "a proxy's login")
    }

    @Test func `no description shows passwords or tokens`() async throws {
        struct NoToken: Error {}
        let (server, api) = (try server(), try server())
        let scribe = Scribe()
        let policy = AuthenticationPolicy(
            credentials: [.init(.init(user: "anna", password: "hunter2"), for: server.url)],
            tokens: [
                .init(for: api.url, token: "token-one") { refused in
                    if refused == "token-one" { return "token-two" }
                    throw NoToken()
                }
            ]
        )
        let configuration = HTTPConfiguration(
            timeouts: .lasting,
            eventMonitors: [scribe],
            authentication: policy
        )
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        let options = RequestOptions(credential: .init(user: "berta", password: "hunter3"))
        let requests = [
            session.get("basic"), session.get("digest"), session.get("302/to/none"), session.get("\(api.url)/a"),
            session.get("basic", options: options),
            session.get("302/to/x/y", options: .init(redirects: .follow(limit: 0))),
            session.get("http://berta:hunter3@127.0.0.1:\(server.port)/basic"),
            session.get("http://berta:hunter3@127.0.0.1:\(server.port)/302/to/302/to/digest"),
            session.get("http://berta:hunter3@127.0.0.1:\(server.port)/302/to/302/to/none"),
            session.get("http://berta:hunter3@127.0.0.1:99999/"), session.get("http://berta:hunter3@a@b/"),
        ]
        for request in requests {
            do throws(HTTPError) {
                check(written(try await request.response()), "a response")
            } catch {
                check(written(error, error.code, error.reason), "an error")
            }
            check(written(request.request, request), "a request")
        }
        check(scribe.text.withLock { $0 }, "an event")
        check(written(configuration, policy, policy.credentials, policy.tokens, options), "a configuration")
        check(written(session), "a session")
        // The server received them; otherwise the test proves nothing.
        let told = (server.requests.value + api.requests.value).compactMap { $0["Authorization"] }
        for value in [Self.secrets[4], Self.secrets[5], "token-one", "token-two", "Digest username=\"anna\""] {
            #expect(told.contains { $0.contains(value) }, "\(value)")
        }
    }
}
