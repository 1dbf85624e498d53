import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Plain HTTP requests, which an HTTP proxy forwards.
@Suite(.timeLimit(.minutes(5)))
struct ForwardingProxyTests {
    @Test func `the proxy gets the whole URL, and the origin's name is not looked up`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.forever([.readRequest, .response("by proxy")]))
            let lookup = ScriptedLookup()
            let session = try lab.session(by: proxy, resolver: lookup.resolver())
            let response = try await session.get("http://Origin.example:8080/a?b=c").response()
            #expect(response.bytes == Array("by proxy".utf8))
            #expect(response.url == "http://origin.example:8080/a?b=c")
            _ = try await session.post("http://origin.example:8080/up", body: .bytes(Array("x".utf8))).response()
            let requests = proxy.connections.flatMap(\.requests)
            #expect(requests.count == 2)
            let lines = "GET http://origin.example:8080/a?b=c HTTP/1.1\r\nHost: origin.example:8080\r\n"
            #expect(requests[0].head.hasPrefix(lines))
            #expect(!requests[0].head.contains("Proxy-"))
            #expect(requests[1].head.hasPrefix("POST http://origin.example:8080/up HTTP/1.1\r\n"))
            #expect(proxy.connections.count == 1)
            #expect(lookup.begun.value.isEmpty)
        }
    }

    @Test func `IPv6 keeps its brackets and loses its zone`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.readRequest, .response())
            _ = try await lab.session(by: proxy).get("http://[fe80::1%25lo]/").response()
            #expect(
                proxy.connections[0].requests[0].head.hasPrefix("GET http://[fe80::1]/ HTTP/1.1\r\nHost: [fe80::1]\r\n")
            )
        }
    }

    @Test func `credentials are sent to the proxy preemptively, and not shown in the request handle`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.readRequest, .response())
            let request = try lab.session(by: proxy, user: "me:p%20w").get("http://origin.example/")
            _ = try await request.response()
            let head = proxy.connections[0].requests[0].head
            #expect(head.contains("\r\nProxy-Authorization: Basic bWU6cCB3\r\n"))
            #expect(request.head.path == "/")
            #expect(request.head.headerFields[.proxyAuthorization] == nil)
        }
    }

    @Test(arguments: ["", "me:wrong"])
    func `a proxy that refuses the user ends the request with its response`(user: String) async throws {
        try await ProxyLab.run { lab in
            let challenge = ["Proxy-Authenticate: Basic realm=\"lab\""]
            let proxy = try lab.server(
                .forever([.readRequest, .response("who?", status: "407 Who", headers: challenge)])
            )
            let error = try await lab.failure(lab.session(by: proxy, user: user))
            #expect(error.code == .proxyAuthenticationRequired)
            #expect(error.processing == .refusedUnprocessed)
            #expect(error.response?.status == 407)
            #expect(error.body == Array("who?".utf8))
            #expect(error.proxy == "http://127.0.0.1:\(proxy.port)")
            #expect(error.reason.contains(user.isEmpty ? "wants a user name" : "does not take the user 'me'"))
            #expect(!"\(error)".contains("wrong"))
            #expect(proxy.connections.flatMap(\.requests).count == 1)
        }
    }

    @Test func `a Digest challenge of a proxy is met, and further requests are authorized preemptively`() async throws {
        try await ProxyLab.run { lab in
            let challenge = ["Proxy-Authenticate: Digest realm=\"lab\", nonce=\"n\", qop=\"auth\""]
            let who = ServerStep.response("who?", status: "407 Who", headers: challenge)
            let answering = ServerStep.forever([.readRequest, .response("yes")])
            let proxy = try ScriptedServer(in: lab.lab) { $0 == 0 ? [.readRequest, who, answering] : [answering] }
            let session = try lab.session(by: proxy, user: "me:pw")
            #expect(
                try await session.post("http://origin.example/", body: .bytes(Array("body".utf8))).string() == "yes"
            )
            #expect(try await session.get("http://origin.example/x").string() == "yes")
            let requests = proxy.connections.flatMap(\.requests)
            #expect(requests.map(\.body) == [Array("body".utf8), Array("body".utf8), []])
            let proofs = requests.compactMap { $0.head.split(separator: "\r\n").first { $0.hasPrefix("Proxy-Auth") } }
            #expect(proofs.first?.hasPrefix("Proxy-Authorization: Basic ") == true)
            #expect(proofs.dropFirst().allSatisfy { $0.hasPrefix("Proxy-Authorization: Digest username=\"me\"") })
            #expect(proofs.last?.contains("uri=\"http://origin.example/x\"") == true)
            #expect(proofs.last?.contains("nc=00000002") == true)
        }
    }

    @Test func `without a proxy, 407 is an ordinary response`() async throws {
        try await ProxyLab.run { lab in
            let server = try lab.server(.readRequest, .response(status: "407 Who"))
            let response = try await lab.session(.direct).get("http://127.0.0.1:\(server.port)/").response()
            #expect(response.status == 407)
        }
    }

    @Test func `a request may go by another proxy, or by none`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.forever([.readRequest, .response("proxy")]))
            let origin = try lab.server(.forever([.readRequest, .response("origin")]))
            let url = "http://127.0.0.1:\(origin.port)/"
            let session = try lab.session(by: proxy)
            for _ in 0..<2 {
                #expect(try await session.get(url).string() == "proxy")
                #expect(try await session.get(url, options: .init(proxy: .direct)).string() == "origin")
            }
            #expect(
                try await lab.session(by: origin).get(
                    url,
                    options: .init(proxy: .all(.init("127.0.0.1:\(proxy.port)")))
                ).string() == "proxy"
            )
            let excepted = try lab.session(.all(.init("127.0.0.1:\(proxy.port)"), except: .init("127.0.0.0/8")))
            #expect(try await excepted.get(url).string() == "origin")
        }
    }

    @Test func `a Proxy-Authorization field is sent to a forwarding proxy only`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.forever([.readRequest, .response("proxy")]))
            let origin = try lab.server(.forever([.readRequest, .response("origin")]))
            let url = "http://127.0.0.1:\(origin.port)/"
            let fields: HTTPFields = [.proxyAuthorization: "Basic bWU6cHc="]
            let session = try lab.session(by: proxy) { $0.headers = fields }
            _ = try await session.get(url).response()
            _ = try await session.get(url, options: .init(proxy: .direct)).response()
            let other = try lab.session(.direct)
            _ = try await other.get(url, headers: fields).response()
            let adding = ClosureInterceptor.setting(.proxyAuthorization) { _, _ in "Basic bWU6cHc=" }
            _ = try await other.get(url, options: .init(interceptors: [adding])).response()
            let received = [proxy, origin].map {
                $0.connections.flatMap(\.requests).map { $0.field("Proxy-Authorization") }
            }
            #expect(received == [["Basic bWU6cHc="], [nil, nil, nil]])
        }
    }

    @Test func `a Unix socket uses no proxy`() async throws {
        let folder = try LabFolder()
        let server = try ScriptedServer(on: .unix("\(folder.path)/socket"), always: [.readRequest, .response()])
        try await ProxyLab.run { lab in
            let session = try lab.session(.all(.init("127.0.0.1:9"))) { $0.unixSocketPath = "\(folder.path)/socket" }
            _ = try await session.get("http://origin.example/x").response()
        }
        #expect(server.connections[0].requests[0].head.hasPrefix("GET /x HTTP/1.1\r\n"))
    }
}

extension HTTPField.Name {
    fileprivate static let proxyAuthorization = Self("Proxy-Authorization") ?? .accept
}
