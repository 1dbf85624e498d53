import FoundationEssentials
import HTTPLab
import NetworkClient
import NetworkClientNegotiate
import Testing

/// Runs the examples of docs/redirects.md and docs/authentication.md, and compares the pages with this file.
@Suite(.timeLimit(.minutes(5)))
struct FollowingPagesTests {
    private struct Keychain: Sendable {
        func credential(for realm: String?) async throws -> Credential { .init(user: "mufasa", password: "circle") }
    }

    private struct Login: Sendable {
        func newToken(inPlaceOf old: String?) async throws -> String { "new" }
    }

    /// A server that redirects `/old`, requires Basic at `/basic` and a token at `/token`.
    private func server() throws -> AnsweringServer {
        try AnsweringServer { request in
            let value = request["Authorization"]
            let refusal = "401 Unauthorized"
            switch request.path {
            case "/old": return [.response(status: "302 Found", headers: ["Location: /new"])]
            case "/away": return [.response(status: "302 Found", headers: ["Location: /login/form"])]
            case "/basic" where value == nil:
                return [.response(status: refusal, headers: ["WWW-Authenticate: Basic realm=lions"])]
            case "/token" where value != "Bearer new":
                return [.response(status: refusal, headers: ["WWW-Authenticate: Bearer"])]
            default: return [.response()]
            }
        }
    }

    @Test func `a session follows redirects and lists them`() async throws {
        let server = try server()
        let url = server.url
        let session = try HTTPSession(
            baseURL: url,
            configuration: .init(redirects: .follow(limit: 5, secretFields: ["X-Api-Key"]))
        )
        let response = try await session.get("old").response()
        for step in response.redirects { print(step.status, step.from, step.to) }
        #expect(response.url == "\(url)/new")
    }

    @Test func `a closure changes or refuses a redirect`() async throws {
        let server = try server()
        let policy = RedirectPolicy.follow { redirect in
            guard redirect.next.path?.hasPrefix("/login") != true else { return .refuse }
            var next = redirect.next
            next.headerFields[.referer] = "https://example.com/"
            return .change(next)
        }
        let session = try HTTPSession(baseURL: server.url, configuration: .init(redirects: policy))
        #expect(try await session.get("old").response().status == 200)
        #expect(server.requests.value.last?["Referer"] == "https://example.com/")
        #expect(try await session.get("away").response().status == 302)
    }

    @Test func `a challenge is met with configured credentials`() async throws {
        let server = try server()
        let url = server.url
        let session = try HTTPSession(
            baseURL: url,
            configuration: .init(
                authentication: .init(credentials: [
                    .init(.init(user: "mufasa", password: "circle"), for: url, realm: "lions")
                ])
            )
        )
        #expect(try await session.get("basic").response().status == 200)
    }

    @Test func `a handler supplies a credential`() async throws {
        let server = try server()
        let url = server.url
        let keychain = Keychain()
        let policy = AuthenticationPolicy { question in
            guard question.origin == url else { return .refuse }
            return .credential(try await keychain.credential(for: question.challenge.realm))
        }
        let session = try HTTPSession(baseURL: url, configuration: .init(authentication: policy))
        #expect(try await session.get("basic").response().status == 200)
    }

    @Test func `a bearer token is refreshed after a refusal`() async throws {
        let server = try server()
        let url = server.url
        let login = Login()
        let tokens = BearerTokens(for: url, token: "saved") { refused in
            try await login.newToken(inPlaceOf: refused)
        }
        let session = try HTTPSession(baseURL: url, configuration: .init(authentication: .init(tokens: [tokens])))
        #expect(try await session.get("token").response().status == 200)
    }

    func netrcSession() throws -> HTTPSession {
        try HTTPSession(
            baseURL: "https://api.example.com/v1",
            configuration: .init(authentication: .init(netrc: .home()))
        )
    }

    @Test func `a session is made with the netrc file of the user, which may be missing`() throws {
        #expect(throws: Never.self) { try netrcSession() }
    }

    func intranetSession() throws -> HTTPSession {
        var configuration = HTTPConfiguration()
        configuration.authentication.negotiate = .init(for: ["https://intranet.example.com"])
        return try HTTPSession(baseURL: "https://intranet.example.com", configuration: configuration)
    }

    @Test func `a session is made whose user signs in with Kerberos`() throws {
        #expect(throws: Never.self) { try intranetSession() }
    }

    @Test func `every example of the pages is compiled in this file`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        func lines(_ path: String) throws -> [String] {
            let text = String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
            return text.split(separator: "\n").map { String($0.drop { $0 == " " }) }
        }
        let source = try lines("Tests/NetworkClientTests/Following/FollowingPagesTests.swift").joined(separator: "\n")
        for (name, count) in [("redirects", 2), ("authentication", 5)] {
            let page = try lines("docs/\(name).md")
            let blocks = page.split(separator: "```swift").dropFirst().map { $0.prefix { $0 != "```" } }
            #expect(blocks.count == count, "\(name)")
            for block in blocks { #expect(source.contains(block.joined(separator: "\n")), "\(block)") }
        }
    }
}
