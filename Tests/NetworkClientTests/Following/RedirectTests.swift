import Glibc
import HTTPLab
import Locking
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Redirects in addition to the matrix: limits, targets, policies and history.
@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
    private func session(
        _ server: AnsweringServer,
        _ redirects: RedirectPolicy = .follow()
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: server.url, configuration: .init(timeouts: .lasting, redirects: redirects))
    }

    /// The error of a request; nil if it succeeds.
    private func failure(_ request: DataRequest) async -> HTTPError.Code? {
        do {
            _ = try await request.response()
            return nil
        } catch {
            #expect(error.processing == .answered)
            #expect(error.response?.status.code == 302)
            return error.code
        }
    }

    /// A path that is redirected a number of times.
    private func path(_ count: Int) -> String { String(repeating: "302/to/", count: count) + "end" }

    @Test func `the response lists the redirects and the last URL`() async throws {
        let server = try RedirectLab.server()
        let session = try session(server)
        let handle = session.get("301/to/307/to/end?q=1", options: .init(startsAtOnce: false))
        let events = handle.events
        handle.resume()
        let response = try await handle.response()
        #expect(response.url == "\(server.url)/end?q=1")
        #expect(response.redirects.map(\.status) == [301, 307])
        #expect(response.redirects.map(\.from) == ["\(server.url)/301/to/307/to/end", "\(server.url)/307/to/end"])
        #expect(response.redirects.map(\.to) == ["\(server.url)/307/to/end", "\(server.url)/end"])
        #expect(server.requests.value.map(\.target).last == "/end?q=1")
        var told: [String] = []
        for await event in events {
            if case .redirected(let from, let to, let status) = event { told.append("\(from) \(status) \(to)") }
        }
        #expect(told == response.redirects.map { "\($0.from) \($0.status) \($0.to)" })
        // They share a connection, which is kept while the session is retained.
        #expect(server.connections.count == 1)
        session.invalidate()
        #expect(response.metrics.attempts == 3)
    }

    @Test func `redirects are followed up to the limit`() async throws {
        let server = try RedirectLab.server()
        #expect(try await session(server).get(path(20)).response().redirects.count == 20)
        #expect(try await failure(session(server).get(path(21))) == .tooManyRedirects)
        let few = try session(server, .follow(limit: 2))
        #expect(try await few.get(path(2)).response().status == 200)
        #expect(await failure(few.get(path(3))) == .tooManyRedirects)
        let more = RequestOptions(redirects: .follow(limit: 3))
        #expect(try await few.get(path(3), options: more).response().status == 200)
    }

    @Test func `a redirect is not followed after the total limit`() async throws {
        let redirect = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /b\r\nContent-Length: 10\r\n\r\n"
        let warm = Observed(0)
        let server = try AnsweringServer { request in
            guard request.path == "/warm" else { return request.path == "/a" ? [.send(redirect)] : [.response("here")] }
            warm.update { $0 += 1 }
            // Two connections: the target could be requested immediately, on the other one.
            while warm.value < 2 { usleep(1_000) }
            return [.response()]
        }
        let session = try session(server)
        async let other = session.get("warm").response()
        _ = try await (session.get("warm").response(), other)
        var timeouts = Timeouts.lasting
        timeouts.total = .seconds(1)
        let request = session.post("a", body: .text("x"), options: .init(timeouts: timeouts))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .requestTimedOut)
        #expect(try await session.get("c").string() == "here")
        // What was sent on them has been received.
        session.invalidate()
        try await server.wait(for: "the end of the connections") { $0.allSatisfy { $0.end != nil } }
        #expect(!server.requests.value.contains { $0.path == "/b" })
    }

    @Test func `refused redirects are the response`() async throws {
        let server = try RedirectLab.server()
        let response = try await session(server, .refuse).get(path(1)).response()
        #expect(response.status == 302)
        #expect(response["Location"] == ["/end"])
        #expect(response.bytes == Array("moved".utf8))
        #expect(response.redirects.isEmpty)
    }

    @Test(arguments: ["/a", "?", "", "//HOST/a", "http://HOST/a", "a", "#top"])
    func `redirects in a circle are followed up to the limit, and the error names the URL`(
        location: String
    ) async throws {
        let server = try AnsweringServer { request in
            let host = request["Host"] ?? ""
            let place = location.replacing("HOST", with: host)
            return [.response(status: "302 Found", headers: ["Location: \(request.path == "/a" ? place : "/a")"])]
        }
        let session = try session(server, .follow(limit: 4))
        let error = await #expect(throws: HTTPError.self) { try await session.get("/b").response() }
        #expect(error?.code == .tooManyRedirects && error?.processing == .answered)
        #expect(error?.reason.hasSuffix("and 4 redirects were followed already, 4 of them to \(server.url)/a") == true)
        #expect(server.requests.value.map(\.path) == ["/b", "/a", "/a", "/a", "/a"])
    }

    @Test func `a redirect to the same URL is followed, since the server may respond differently`() async throws {
        let count = Lock(0)
        let server = try AnsweringServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return [
                number < 3
                    ? .response(status: "302 Found", headers: ["Location: /page?x=1", "Set-Cookie: seen=1"])
                    : .response("welcome")
            ]
        }
        let response = try await session(server).get("page?x=1").response()
        #expect(response.bytes == Array("welcome".utf8) && response.redirects.count == 2)
        #expect(response.url == "\(server.url)/page?x=1")
    }

    @Test(arguments: [
        [], ["Location: /a", "Location: /b"], ["Location: ftp://127.0.0.1/"], ["Location: http://"],
        ["Location: http://a b/"], ["Location: http://127.0.0.1:99999/"],
    ])
    func `an unusable Location`(fields: [String]) async throws {
        let server = try AnsweringServer { _ in [.response(status: "302 Found", headers: fields)] }
        #expect(try await failure(session(server).get("/")) == .redirectUnusable)
        #expect(server.requests.value.count == 1)
    }

    @Test(arguments: [
        ("/x/y?z", "/x/y?z"), ("y?z", "/a/y?z"), ("../y", "/y"), ("?z", "/a/b?z"), ("//HOST/y", "/y"),
        ("HTTP://HOST", "/"), ("/\u{E4} b", "/%C3%A4%20b"), ("/y#part", "/y"),
    ])
    func `a Location is resolved against the request's URL`(location: String, target: String) async throws {
        let server = try AnsweringServer { request in
            let place = location.replacing("HOST", with: request["Host"] ?? "")
            guard request.target == "/a/b?c" else { return [.response()] }
            return [.response(status: "302 Found", headers: ["Location: \(place)"])]
        }
        _ = try await session(server).get("/a/b?c").response()
        #expect(server.requests.value.last?.target == target)
    }

    @Test func `the fragment is kept unless the Location has one`() async throws {
        let server = try AnsweringServer { request in
            guard request.path != "/end" else { return [.response()] }
            let place = request.path == "/keep" ? "/end" : "/end#new"
            return [.response(status: "302 Found", headers: ["Location: \(place)"])]
        }
        #expect(try await session(server).get("/keep#old").response().fragment == "old")
        #expect(try await session(server).get("/change#old").response().fragment == "new")
        #expect(try await session(server).get("/end").response().fragment == nil)
        #expect(server.requests.value.allSatisfy { !$0.head.contains("#") })
    }

    @Test func `an explicit Host field is not sent to another origin`() async throws {
        let other = try RedirectLab.server()
        let server = try RedirectLab.server(to: other.url)
        _ = try await session(server).get("302/to/end", headers: [.init("Host") ?? .cookie: "own.example"]).response()
        #expect(server.requests.value.last?["Host"] == "own.example")
        #expect(other.requests.value.last?["Host"] == "127.0.0.1:\(other.port)")
    }

    // MARK: The last word

    @Test func `a policy closure keeps, changes or refuses each redirect`() async throws {
        let server = try RedirectLab.server()
        let policy = RedirectPolicy.follow { redirect in
            switch redirect.followed {
            case 0: return .follow
            case 1:
                var next = redirect.next
                next.headerFields[.cookie] = "seen=\(redirect.response.status.code)"
                next.path = "/302/to/302/to/changed"
                return .change(next)
            default: return redirect.next.path == "/changed" ? .refuse : .follow
            }
        }
        let response = try await session(server, policy).get(path(3)).response()
        #expect(response.status == 302)
        #expect(response.url == "\(server.url)/302/to/changed")
        #expect(response.redirects.count == 3)
        let requests = server.requests.value
        #expect(requests.map(\.target).suffix(2) == ["/302/to/302/to/changed", "/302/to/changed"])
        #expect(requests.map { $0["Cookie"] }.suffix(2) == ["seen=302", "seen=302"])
    }

    @Test func `a changed origin gets its own Host field, unless one is set`() async throws {
        let other = try RedirectLab.server()
        let server = try RedirectLab.server()
        let host = try #require(HTTPField.Name("Host"))
        let policy = RedirectPolicy.follow { redirect in
            var next = redirect.next
            next.authority = "127.0.0.1:\(other.port)"
            if next.path == "/own" { next.headerFields[host] = "own.example" }
            return .change(next)
        }
        let session = try session(server, policy)
        for headers in [[:], [host: "user.example"]] as [HTTPFields] {
            #expect(try await session.get("302/to/end", headers: headers).response().status == 200)
            #expect(other.requests.value.last?["Host"] == "127.0.0.1:\(other.port)")
        }
        #expect(try await session.get("302/to/own").response().status == 200)
        #expect(other.requests.value.last?["Host"] == "own.example")
    }

    @Test func `changing a request with a body to TRACE fails it`() async throws {
        let server = try RedirectLab.server()
        let policy = RedirectPolicy.follow { redirect in
            var next = redirect.next
            next.method = .trace
            return .change(next)
        }
        let error = await #expect(throws: HTTPError.self) {
            try await session(server, policy).upload("307/to/end", from: .bytes([1])).response()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.contains("a TRACE can't have a body") == true)
        #expect(server.requests.value.count == 1)
    }

    @Test func `a closure can't send proxy credentials to an origin`() async throws {
        let server = try RedirectLab.server()
        let name = try #require(HTTPField.Name("Proxy-Authorization"))
        let policy = RedirectPolicy.follow { redirect in
            var next = redirect.next
            next.headerFields[name] = "Basic bWU6cHc="
            return .change(next)
        }
        _ = try await session(server, policy).get("302/to/end").response()
        #expect(server.requests.value.map { $0["Proxy-Authorization"] } == [nil, nil])
    }

    @Test(arguments: [[:], [.contentLength: "3"], [.transferEncoding: "chunked"]] as [HTTPFields])
    func `a closure that sends another head can't change the framing of the body`(fields: HTTPFields) async throws {
        let server = try RedirectLab.server()
        let policy = RedirectPolicy.follow { redirect in
            .change(
                .init(
                    method: .post,
                    scheme: "http",
                    authority: redirect.next.authority,
                    path: "/end",
                    headerFields: fields
                )
            )
        }
        let body = Array("GET /evil HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        _ = try await session(server, policy).post("307/to/end", body: .bytes(body)).response()
        let last = try #require(server.requests.value.last)
        #expect(last.target == "/end" && last.body == body)
        #expect(last["Content-Length"] == "\(body.count)" && last["Transfer-Encoding"] == nil)
        // Without a body, there is nothing to frame; its absence is stated where the method usually has one.
        _ = try await session(server, policy).get("302/to/end").response()
        let empty = try #require(server.requests.value.last)
        #expect(empty.target == "/end" && empty.body.isEmpty)
        #expect(empty["Content-Length"] == "0" && empty["Transfer-Encoding"] == nil)
    }

    @Test func `a closure that sends another head leaves the body waiting for the server's consent`() async throws {
        let server = try RedirectLab.server()
        let policy = RedirectPolicy.follow { redirect in
            .change(.init(method: .put, scheme: "http", authority: redirect.next.authority, path: "/end"))
        }
        let options = RequestOptions(expectsContinue: true)
        _ = try await session(server, policy).put("307/to/end", body: .text("text"), options: options).response()
        let requests = server.requests.value
        #expect(requests.map(\.target) == ["/307/to/end", "/end"])
        #expect(requests.map { $0["Expect"] } == ["100-continue", "100-continue"])
    }

    // MARK: Bodies of redirects

    @Test(arguments: [
        (["Content-Length: 60000"], 60_000, 1), (["Content-Length: 70000"], 70_000, 2),
        (["Content-Length: 5000000000"], 100, 2), (["Transfer-Encoding: chunked"], 70_000, 2),
    ])
    func `a redirect's body costs at most its connection`(
        fields: [String],
        size: Int,
        connections: Int
    ) async throws {
        let server = try AnsweringServer { request in
            guard request.path == "/" else { return [.response()] }
            let isChunked = fields.contains { $0.hasPrefix("Transfer") }
            let start = (["HTTP/1.1 302 Found", "Location: /end"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
            let chunk = isChunked ? "\(String(size, radix: 16))\r\n" : ""
            return [.send(start + chunk + String(repeating: "x", count: size))]
        }
        var configuration = HTTPConfiguration.lasting
        // Only the size decides, also if the body arrives late on a busy machine.
        configuration.fixedLimits.discardedBody = .seconds(300)
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        let response = try await session.get("/").response()
        #expect(response.status == 200)
        #expect(server.connections.count == connections)
        session.invalidate()
    }

    @Test func `a redirect with a truncated body is followed`() async throws {
        let server = try AnsweringServer { request in
            guard request.path == "/" else { return [.response()] }
            return [.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 9\r\n\r\nx"), .reset]
        }
        #expect(try await session(server).get("/").response().url == "\(server.url)/end")
    }

    @Test func `a streamed body is that of the last response`() async throws {
        let server = try RedirectLab.server()
        let response = try await session(server).stream(.get, path(2)).response()
        #expect(response.status == 200)
        #expect(try await response.body.collect(upTo: 100) == ByteBuffer(string: "here"))
    }

    @Test func `a Location that is not UTF-8 is requested by its bytes`() async throws {
        let location: [UInt8] = Array("/caf".utf8) + [0xE9] + Array("?q=".utf8) + [0xFC, 0x80]
        let head = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + location + [13, 10, 13, 10]
        let server = try ScriptedServer(always: [.readRequest, .sendBytes(head), .readRequest, .response("here")])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "here")
        #expect(server.requests.last?.head.hasPrefix("GET /caf%E9?q=%FC%80 HTTP/1.1\r\n") == true)
    }

    @Test func `a Location in UTF-8 is requested by its bytes`() async throws {
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf\u{E9}\r\n\r\n"
        let server = try ScriptedServer(always: [.readRequest, .send(head), .readRequest, .response("here")])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "here")
        #expect(server.requests.last?.head.hasPrefix("GET /caf%C3%A9 HTTP/1.1\r\n") == true)
    }

    @Test(arguments: ["Content-Length: 5\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n5\r\nab", "\r\nab"])
    func `a redirect is followed although its body stalls`(body: String) async throws {
        let server = try ScriptedServer { number in
            let redirect = "HTTP/1.1 302 Found\r\nLocation: /there\r\n\(body)"
            return number == 0 ? [.readRequest, .send(redirect), .hold] : [.readRequest, .response("here")]
        }
        let timeouts = Timeouts(firstByte: nil, read: nil)
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: timeouts)
        )
        #expect(try await session.get("").string() == "here")
    }
}
