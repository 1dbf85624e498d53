import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// The cookies of requests, responses, redirects, retries and challenges.
@Suite(.timeLimit(.minutes(5)))
struct CookieRequestTests {
    private func cookies(_ server: AnsweringServer) -> [String?] { server.requests.value.map { $0["Cookie"] } }

    private func session(
        _ server: AnsweringServer,
        _ authentication: AuthenticationPolicy = .none
    ) throws -> HTTPSession {
        let configuration = HTTPConfiguration(timeouts: .lasting, authentication: authentication)
        return try HTTPSession(baseURL: server.url, configuration: configuration)
    }

    @Test func `a session sends back the cookies of its responses`() async throws {
        let server = try AnsweringServer { _ in
            [
                .response(
                    "",
                    headers: [
                        "Set-Cookie: a=1; Path=/", "set-cookie: b=2; Path=/; HttpOnly", "Set-Cookie: c=3; Path=/x",
                    ]
                )
            ]
        }
        let session = try session(server)
        for path in ["", "", "x/y"] { _ = try await session.get(path).response() }
        #expect(cookies(server) == [nil, "a=1; b=2", "c=3; a=1; b=2"])
        // Another session has its own.
        _ = try await self.session(server).get("").response()
        #expect(cookies(server).last == .some(nil))
        session.cookies?.remove { $0.name == "a" }
        _ = try await session.get("").response()
        #expect(cookies(server).last == "b=2")
    }

    @Test func `a session without cookies neither stores nor sends any, and a request can be without them`()
        async throws
    {
        let server = CookieServer { _ in [("Set-Cookie", "a=1")] }
        let session = try server.session(.never)
        for _ in 1...2 { _ = try await session.get("https://example.com/").response() }
        #expect(session.cookies == nil)
        let other = try server.session()
        let without = RequestOptions(handlesCookies: false)
        _ = try await other.get("https://example.com/", options: without).response()
        #expect(other.cookies?.cookies.isEmpty == true)
        for _ in 1...2 { _ = try await other.get("https://example.com/").response() }
        _ = try await other.get("https://example.com/", headers: [.cookie: "own=1"], options: without).response()
        let url = "https://example.com/"
        #expect(server.received.value == [url, url, url, url, "\(url) a=1", "\(url) own=1"])
    }

    @Test func `a cookie for com is not sent to a bank`() async throws {
        let server = CookieServer { _ in [("Set-Cookie", "a=1; Domain=com"), ("Set-Cookie", "b=2; Domain=.co.uk")] }
        let session = try server.session()
        for host in ["evil.com", "bank.com", "evil.co.uk", "bank.co.uk"] {
            _ = try await session.get("https://\(host)/").response()
        }
        #expect(!server.received.value.contains { $0.contains("=") })
        #expect(session.cookies?.cookies.isEmpty == true)
    }

    @Test func `Max-Age counts, and a cookie that requires TLS is not sent without`() async throws {
        let server = CookieServer { url in
            url.hasSuffix("/set")
                ? [("Set-Cookie", "a=1; Secure; Path=/"), ("Set-Cookie", "b=2; Max-Age=0; Path=/")] : []
        }
        let session = try server.session()
        for url in ["https://example.com/set", "https://example.com/", "http://example.com/"] {
            _ = try await session.get(url).response()
        }
        #expect(
            server.received.value == ["https://example.com/set", "https://example.com/ a=1", "http://example.com/"]
        )
    }

    @Test func `a redirect is followed with the cookies that were set on the way`() async throws {
        let server = CookieServer { url in
            switch url {
            case "https://www.example.com/":
                [("Location", "/b"), ("Set-Cookie", "a=1"), ("Set-Cookie", "d=4; Domain=example.com")]
            case "https://www.example.com/b": [("Location", "https://login.example.com/c"), ("Set-Cookie", "b=2")]
            case "https://login.example.com/c":
                [("Location", "https://www.example.com/end"), ("Set-Cookie", "c=3; Domain=example.com")]
            default: []
            }
        }
        _ = try await server.session().get("https://www.example.com/", headers: [.cookie: "own=1"]).response()
        #expect(
            server.received.value == [
                "https://www.example.com/ own=1", "https://www.example.com/b a=1; d=4; own=1",
                "https://login.example.com/c d=4", "https://www.example.com/end a=1; d=4; b=2; c=3",
            ]
        )
    }

    @Test func `a redirect to another site leaves out what SameSite forbids`() async throws {
        let server = CookieServer { url in
            guard url.hasPrefix("https://evil.org/") else { return [] }
            return [("Location", "https://bank.com/pay"), ("Status", url.hasSuffix("post") ? "307" : "302")]
        }
        let store = CookieStore()
        for field in ["s=1; SameSite=Strict", "l=2; SameSite=Lax", "n=3; SameSite=None; Secure", "u=4"] {
            try store.insert(field, from: "https://bank.com/")
        }
        let session = try server.session(.store(store))
        _ = try await session.get("https://evil.org/get").response()
        _ = try await session.post("https://evil.org/post", body: .bytes([1])).response()
        _ = try await session.post("https://bank.com/pay", body: .bytes([1])).response()
        let received = server.received.value.filter { $0.hasPrefix("https://bank") }
        let bank = "https://bank.com/pay"
        #expect(received == ["\(bank) l=2; n=3; u=4", "\(bank) n=3", "\(bank) s=1; l=2; n=3; u=4"])
    }

    @Test(
        arguments: [
            (.always, ["a=1", "b=2"]), (.onlyFromRequestedSite, ["a=1"]), (.never, []),
        ] as [(CookieAcceptPolicy, [String])]
    )
    func `a store accepts cookies by its policy`(policy: CookieAcceptPolicy, stored: [String]) async throws {
        let server = CookieServer { url in
            url == "https://www.example.com/"
                ? [("Location", "https://ads.example.org/"), ("Set-Cookie", "a=1; Domain=example.com")]
                : [("Set-Cookie", "b=2")]
        }
        let store = CookieStore(accepts: policy)
        _ = try await server.session(.store(store)).get("https://www.example.com/").response()
        #expect(store.cookies.map { "\($0.name)=\($0.value)" } == stored)
    }

    @Test func `a retry and a challenge are answered with the cookies that were set on the way`() async throws {
        let server = try AnsweringServer { request in
            if request.path == "/busy", request["Cookie"] == nil {
                let headers = ["Set-Cookie: node=7", "Retry-After: 0"]
                return [.response("", status: "503 Service Unavailable", headers: headers)]
            }
            if request.path == "/private", request["Authorization"] == nil {
                let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                return [.response("", status: "401 Unauthorized", headers: [challenge, "Set-Cookie: round=1"])]
            }
            return [.response("in")]
        }
        let credential = SpaceCredential(.init(user: "anna", password: "secret"), for: server.url)
        let session = try session(server, .init(credentials: [credential]))
        #expect(try await session.get("private").response().status == 200)
        #expect(cookies(server) == [nil, "round=1"])
        let retrying = RequestOptions(retry: .standard)
        #expect(try await session.get("busy", options: retrying).response().status == 200)
        #expect(Array(cookies(server).dropFirst(2)) == ["round=1", "round=1; node=7"] || cookies(server).count == 3)
    }

    @Test func `the handshake of a WebSocket sends cookies, and its response sets some`() async throws {
        let lab = try WebSocketLab(["Set-Cookie: socket=1; Path=/"]) { _, _ in }
        try lab.session.cookies?.insert("a=1; Path=/", from: "ws://127.0.0.1/")
        let socket = try await lab.open()
        _ = await socket.close()
        #expect(lab.session.cookies?.cookies.map(\.name) == ["a", "socket"])
        try await lab.server.waitForEnds()
        #expect(lab.server.connections.first?.requests.first?.field("Cookie") == "a=1")
    }

    @Test func `a request has one Cookie field, also with several cookies of its own`() async throws {
        let server = try AnsweringServer { _ in [.response("")] }
        let session = try session(server)
        _ = try await session.get("", headers: [.cookie: "a=1; b=2"]).response()
        try session.cookies?.insert("c=3", from: server.url)
        _ = try await session.get("", headers: [.cookie: "a=1; b=2"]).response()
        #expect(cookies(server) == ["a=1; b=2", "c=3; a=1; b=2"])
        #expect(server.requests.value.allSatisfy { $0.head.split(separator: "Cookie:").count == 2 })
    }

    @Test func `a cookie that was set is sent by a request that interceptors change`() async throws {
        struct Adder: RequestInterceptor {
            func adapt(_ request: HTTPRequest, for _: RequestAttempt) async throws -> HTTPRequest {
                var request = request
                request.headerFields[.cookie] = (request.headerFields[.cookie] ?? "") + "; added=1"
                return request
            }
        }
        let server = CookieServer { _ in [("Set-Cookie", "a=1")] }
        let store = CookieStore()
        let configuration = HTTPConfiguration(transport: server, interceptors: [Adder()], cookies: .store(store))
        let session = try HTTPSession(configuration: configuration)
        for _ in 1...2 { _ = try await session.get("https://example.com/").response() }
        #expect(server.received.value.last == "https://example.com/ a=1; added=1")
    }

    @Test func `no description has a cookie`() async throws {
        let server = CookieServer { _ in [("Set-Cookie", "sid=topsecret"), ("Status", "404")] }
        let store = CookieStore()
        let session = try server.session(.store(store))
        for _ in 1...2 {
            let request = session.get("https://example.com/")
            let error = await #expect(throws: HTTPError.self) { try await request.decoded(Int.self) }
            #expect(error.map { "\($0) \(String(reflecting: $0))".contains("topsecret") } == false)
            #expect(!"\(request) \(request.curlCommand)".contains("topsecret"))
        }
        #expect(store.cookies.first?.value == "topsecret")
        let texts = ["\(store)", String(reflecting: store), "\(session.configuration)", "\(store.cookies)"]
        #expect(!texts.joined().contains("topsecret"))
        #expect(store.description == "CookieStore(1 cookies)")
        let flaw = #expect(throws: HTTPError.self) {
            try store.insert(.init(name: "a", value: "topsecret;", domain: "example.com"))
        }
        #expect(flaw?.code == .invalidConfiguration && flaw?.reason.contains("topsecret") == false)
    }

    @Test func `a session whose store is empty has no stage for a request`() throws {
        let store = CookieStore()
        let session = try HTTPSession(configuration: .init(cookies: .store(store)))
        let request = session.get("http://example.com/", options: .init(startsAtOnce: false))
        #expect(store.isEmpty && !CookieStage(store).mayAdd(to: request))
        try store.insert(.init(name: "a", value: "b", domain: "example.com"))
        #expect(!store.isEmpty && CookieStage(store).mayAdd(to: request))
        let without = session.get("http://example.com/", options: .init(startsAtOnce: false, handlesCookies: false))
        #expect(!CookieStage(store).mayAdd(to: without))
        store.removeAll()
        #expect(store.isEmpty)
    }
}
