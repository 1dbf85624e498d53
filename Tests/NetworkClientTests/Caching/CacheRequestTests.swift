import HTTPLab
import Locking
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// The cache of a session: requests, redirects, cookies, streams, downloads, pauses.
@Suite(.timeLimit(.minutes(5)))
struct CacheRequestTests {
    @Test(arguments: CacheLab.Place.allCases)
    func `a fresh response is used, with its age, and a stale one is validated`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) {
            $0["If-None-Match"] == "\"a\""
                ? ServerStep.notModified : ServerStep.cached("one", "max-age=10", "ETag: \"a\"")
        }
        #expect(try await lab.get() == "200 one network")
        lab.advance(by: 9)
        let response = try await lab.session.get("").response()
        #expect(response.source == .cache && response.age == .seconds(9) && response["Age"] == ["9"])
        #expect(!response.hasEstimatedFreshness && response.metrics.exchanges.isEmpty)
        lab.advance(by: 1)
        #expect(try await lab.get() == "200 one validated")
        #expect(try await lab.get() == "200 one cache")
        #expect(lab.requests("If-None-Match") == ["GET -", "GET \"a\""])
    }

    @Test func `virtual hosts have responses of their own`() async throws {
        let lab = try CacheLab { ServerStep.cached($0["Host"] ?? "") }
        for host in ["a.example", "b.example"] {
            #expect(try await lab.get("", [.init("Host")!: host]) == "200 \(host) network")
            #expect(try await lab.get("", [.init("Host")!: host]) == "200 \(host) cache")
        }
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `removing a URL removes the responses of its virtual hosts`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { ServerStep.cached($0["Host"] ?? "") }
        let host = try #require(HTTPField.Name("Host"))
        for path in ["a", "b"] {
            for source in ["network", "cache"] {
                #expect(try await lab.get(path, [host: "a.example"]) == "200 a.example \(source)")
            }
        }
        try lab.cache.remove("\(lab.server.url)/a")
        #expect(try await lab.get("a", [host: "a.example"]) == "200 a.example network")
        #expect(try await lab.get("b", [host: "a.example"]) == "200 a.example cache")
    }

    @Test func `what an interceptor requests elsewhere is not stored`() async throws {
        struct Tenant: RequestInterceptor {
            let name = Observed("one")

            func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
                var request = request
                request.path = "/\(name.value)"
                return request
            }
        }
        let tenant = Tenant()
        let lab = try CacheLab(.memory, { $0.interceptors = [tenant] }, respond: { ServerStep.cached($0.target) })
        #expect(try await lab.get() == "200 /one network")
        tenant.name.update { $0 = "two" }
        #expect(try await lab.get() == "200 /two network")
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `an unsafe method invalidates its URL before and after an interceptor's change`(
        place: CacheLab.Place
    ) async throws {
        struct Alias: RequestInterceptor {
            func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
                var request = request
                if request.path == "/alias", request.method == .put { request.path = "/items/1" }
                return request
            }
        }
        let change: (inout HTTPConfiguration) -> Void = { $0.interceptors = [Alias()] }
        let lab = try CacheLab(place, change) { request in
            request.method == "GET" ? ServerStep.cached("x") : [.response("", headers: ["Content-Location: 2"])]
        }
        for source in ["network", "cache"] {
            for path in ["/items/1", "/items/2", "/alias", "/2"] {
                #expect(try await lab.get(path) == "200 x \(source)")
            }
        }
        _ = try await lab.session.put("/alias", body: .text("y")).response()
        #expect(lab.server.requests.value.map(\.path) == ["/items/1", "/items/2", "/alias", "/2", "/items/1"])
        // The field is resolved against the URL that was requested.
        for path in ["/items/1", "/items/2", "/alias"] { #expect(try await lab.get(path) == "200 x network") }
        #expect(try await lab.get("/2") == "200 x cache")
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a 304 that comes after an invalidation restores nothing`(place: CacheLab.Place) async throws {
        let latch = try ServerLatch()
        let lab = try CacheLab(place) { request in
            if request.method == "PUT" { return [.response("stored")] }
            return request["If-None-Match"] == nil
                ? ServerStep.cached("one", "max-age=10", "ETag: \"a\"") : [.await(latch)] + ServerStep.notModified
        }
        #expect(try await lab.get() == "200 one network")
        lab.advance(by: 10)
        async let validated = lab.get()
        try await lab.server.requests.wait(for: "the validation") { $0.count == 2 }
        _ = try await lab.session.put("", body: .text("two")).response()
        latch.open()
        #expect(try await validated == "200 one validated")
        #expect(try await lab.get() == "200 one network")
    }

    @Test(arguments: ["If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT", "If-None-Match: \"b\""])
    func `a 304 for a condition of the program's refreshes no other version`(condition: String) async throws {
        let lab = try CacheLab { request in
            request["If-None-Match"] == nil && request["If-Modified-Since"] == nil
                ? ServerStep.cached("one", "max-age=10", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
                : ServerStep.notModified
        }
        #expect(try await lab.get() == "200 one network")
        lab.advance(by: 10)
        let field = condition.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix(" ") }
        let headers: HTTPFields = [.init(String(field[0]))!: String(field[1])]
        #expect(try await lab.session.get("", headers: headers).response().status == 304)
        let next = try await lab.session.get("").response()
        #expect(next.source == .validated)
        #expect(lab.server.requests.value.count == 3)
    }

    @Test func `a response whose 304 may not be stored is used once`() async throws {
        let lab = try CacheLab { request in
            request["If-None-Match"] == nil
                ? ServerStep.cached("one", "max-age=10", "ETag: \"a\"", "Expires: Thu, 01 Jan 2099 00:00:00 GMT")
                : [.send("HTTP/1.1 304 Not Modified\r\nCache-Control: no-store\r\n\r\n")]
        }
        #expect(try await lab.get() == "200 one network")
        lab.advance(by: 10)
        #expect(try await lab.get() == "200 one validated")
        #expect(try await lab.get() == "200 one network")
    }

    @Test func `a session without a cache stores nothing, and says so`() async throws {
        let lab = try CacheLab { _ in ServerStep.cached("x") }
        let session = try HTTPSession(baseURL: lab.server.url, configuration: .lasting)
        for _ in 1...2 {
            let response = try await session.get("").response()
            #expect(response.source == .network && response.age == nil)
        }
        #expect(lab.server.requests.value.count == 2 && lab.cache.size == 0)
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a policy decides about the cache`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { request in
            request["If-None-Match"] == nil
                ? ServerStep.cached("x", "max-age=1", "ETag: \"a\"") : ServerStep.notModified
        }
        let nothing = await #expect(throws: HTTPError.self) { try await lab.get("", [:], .returnCacheDontLoad) }
        #expect(nothing?.code == .notCached && nothing?.processing == .neverSent)
        #expect(try await lab.get("", [:], .returnCacheElseLoad) == "200 x network")
        lab.advance(by: 100)
        #expect(try await lab.get("", [:], .returnCacheElseLoad) == "200 x stale(NetworkClient.StaleReason.policy)")
        #expect(try await lab.get("", [:], .returnCacheDontLoad) == "200 x stale(NetworkClient.StaleReason.policy)")
        #expect(try await lab.get("", [:], .reloadRevalidating) == "200 x validated")
        #expect(try await lab.get("", [:], .reloadRevalidating) == "200 x validated")
        #expect(try await lab.get("", [:], .reloadIgnoringLocalCache) == "200 x network")
        #expect(try await lab.get("", [:], .reloadIgnoringAllCaches) == "200 x network")
        #expect(try await lab.get() == "200 x cache")
        #expect(lab.requests("Cache-Control") == ["GET -", "GET max-age=0", "GET max-age=0", "GET -", "GET no-cache"])
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `each variant of a response is stored`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { ServerStep.cached($0["Accept"] ?? "none", "max-age=10", "Vary: Accept") }
        for _ in 1...2 {
            for type in ["a/b", "c/d"] { #expect(try await lab.get("", [.accept: type]).hasPrefix("200 \(type)")) }
        }
        #expect(lab.server.requests.value.count == 2)
        // After an invalidation, no earlier variant is found again.
        try lab.cache.remove(lab.server.url)
        #expect(try await lab.get("", [.accept: "a/b"]) == "200 a/b network")
        #expect(try await lab.get("", [.accept: "c/d"]) == "200 c/d network")
    }

    @Test func `cookies count as fields of the request, and a stored response sets none`() async throws {
        let lab = try CacheLab { request in
            request.path == "/in"
                ? [.response("in", headers: ["Set-Cookie: user=ann; Path=/"])]
                : ServerStep.cached(
                    request["Cookie"] ?? "nobody",
                    "max-age=10",
                    "Vary: Cookie",
                    "Set-Cookie: seen=1; Path=/x"
                )
        }
        #expect(try await lab.get("/me") == "200 nobody network")
        lab.session.cookies?.removeAll()
        #expect(try await lab.get("/me") == "200 nobody cache")
        #expect(lab.session.cookies?.cookies.isEmpty == true)
        _ = try await lab.get("/in")
        #expect(try await lab.get("/me") == "200 user=ann network")
        #expect(try await lab.get("/me") == "200 user=ann cache")
        lab.session.cookies?.removeAll()
        #expect(try await lab.get("/me") == "200 nobody cache")
    }

    @Test func `a stored redirect leads on`() async throws {
        let lab = try CacheLab { request in
            request.path == "/from"
                ? [.response("", status: "301 Moved", headers: ["Location: /to"])] : ServerStep.cached("there")
        }
        #expect(try await lab.get("/from") == "200 there network")
        let response = try await lab.session.get("/from", options: .init(cachePolicy: .returnCacheElseLoad)).response()
        #expect(response.source == .cache && response.redirects.count == 1)
        #expect(lab.server.requests.value.map(\.path) == ["/from", "/to"])
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `an unsafe method invalidates the URL, and others that it names`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { request in
            guard request.method == "GET" else {
                return [
                    .response(
                        "",
                        status: request.path == "/no" ? "403 No" : "200 OK",
                        headers: ["Location: /b", "Content-Location: http://other/c"]
                    )
                ]
            }
            return ServerStep.cached("x")
        }
        for path in ["/a", "/b", "/c", "/no"] { _ = try await lab.get(path) }
        _ = try await lab.session.post("/a").response()
        _ = try await lab.session.delete("/no").response()
        #expect(try await lab.get("/a") == "200 x network")
        #expect(try await lab.get("/b") == "200 x network")
        #expect(try await lab.get("/c") == "200 x cache")
        #expect(try await lab.get("/no") == "200 x cache")
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a streamed response is stored while it passes, and an interrupted one is not`(
        place: CacheLab.Place
    ) async throws {
        let whole = [UInt8](repeating: 7, count: 200_000)
        let lab = try CacheLab(place) { request in
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nContent-Length: 200000\r\n\r\n"
            let isCut = request.path == "/cut"
            return [.send(head), .sendBytes(isCut ? Array(whole.dropLast()) : whole)] + (isCut ? [.close] : [])
        }
        for source in [ResponseSource.network, .cache] {
            let response = try await lab.session.stream(.get, "/all").response()
            #expect(response.source == source)
            #expect(try await response.body.collect(upTo: 1 << 20) == ByteBuffer(bytes: whole))
        }
        await #expect(throws: HTTPError.self) { try await lab.session.get("/cut").response() }
        let cut = await #expect(throws: HTTPError.self) { try await lab.get("/cut", [:], .returnCacheDontLoad) }
        #expect(cut?.code == .notCached)
        // A body that nobody reads to the end.
        let left = try await lab.session.stream(.get, "/left").response()
        _ = left.head
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a download is stored, and made of a stored response`(place: CacheLab.Place) async throws {
        let whole = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let lab = try CacheLab(place) { _ in
            [
                .send(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n"
                ),
                .send("493e0\r\n"), .sendBytes(whole), .send("\r\n0\r\n\r\n"),
            ]
        }
        for (name, source) in [("a", ResponseSource.network), ("b", .cache)] {
            let path = "\(lab.folder.path)/\(name)"
            let response = try await lab.session.download("", to: path).response()
            #expect(response.source == source && response.file.size == 300_000)
            #expect(try FileBytes.read(path) == whole)
        }
        #expect(lab.server.requests.value.count == 1)
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a part is made of a stored whole`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { _ in ServerStep.cached("0123456789", "max-age=10", "ETag: \"a\"") }
        _ = try await lab.session.get("", headers: [.acceptEncoding: "identity"]).response()
        let response = try await lab.session.get("", headers: [.range: "bytes=2-4"]).response()
        #expect(response.status == 206 && response.bytes == Array("234".utf8) && response.source == .cache)
        #expect(response["Content-Range"] == ["bytes 2-4/10"] && response["Content-Length"] == ["3"])
        #expect(try await lab.get("", [.ifNoneMatch: "\"a\""]) == "304  cache")
        #expect(try await lab.get("", [.ifNoneMatch: "\"b\""]) == "200 0123456789 cache")
        let head = try await lab.session.head("").response()
        #expect(head.source == .cache && head.bytes.isEmpty && head["Content-Length"] == ["10"])
        #expect(lab.server.requests.value.count == 1)
        #expect(try await lab.get("", [.range: "bytes=20-"]).hasSuffix("network"))
    }

    @Test func `a compressed body is stored as it is, and decompressed for each reader`() async throws {
        let packed = compressed(Array("hello hello hello".utf8))
        let lab = try CacheLab(.folder) { _ in
            [
                .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nContent-Encoding: gzip\r\n"),
                .send("Content-Length: \(packed.count)\r\n\r\n"), .sendBytes(packed),
            ]
        }
        for _ in 1...2 { #expect(try await lab.get().hasPrefix("200 hello hello hello")) }
        let streamed = try await lab.session.stream(.get, "").response()
        #expect(streamed.source == .cache)
        #expect(try await streamed.body.collect(upTo: 100) == ByteBuffer(string: "hello hello hello"))
        #expect(lab.server.requests.value.count == 1)
    }

    @Test func `what must not be stored is not`() async throws {
        let lab = try CacheLab { request in
            request.path == "/no" ? ServerStep.cached("x", "no-store") : ServerStep.cached("x")
        }
        for path in ["/no", "/secret", "/asked"] {
            let headers: HTTPFields =
                path == "/secret" ? [.authorization: "Bearer x"] : path == "/asked" ? [.cacheControl: "no-store"] : [:]
            for _ in 1...2 { #expect(try await lab.get(path, headers).hasSuffix("network")) }
        }
        #expect(lab.cache.size == 0)
    }

    @Test func `a request that only a cache may satisfy gets 504 without one`() async throws {
        let lab = try CacheLab { _ in ServerStep.cached("x") }
        #expect(try await lab.get("", [.cacheControl: "only-if-cached"]).hasPrefix("504"))
        _ = try await lab.get()
        #expect(try await lab.get("", [.cacheControl: "only-if-cached"]) == "200 x cache")
    }

    @Test func `a closure decides what is stored, and with which fields`() async throws {
        let lab = try CacheLab(
            .memory,
            { configuration in
                configuration.willCache = { request, response in
                    var response = response
                    response.headerFields[.cacheControl] = "max-age=100"
                    return request.path == "/no" ? nil : response
                }
            },
            respond: { _ in ServerStep.cached("x", "max-age=1") }
        )
        for path in ["/yes", "/no"] { _ = try await lab.get(path) }
        lab.advance(by: 50)
        #expect(try await lab.get("/yes") == "200 x cache")
        #expect(try await lab.get("/no") == "200 x network")
    }

    @Test func `a policy without the network holds for requests that are never cached too`() async throws {
        let lab = try CacheLab { _ in ServerStep.cached("x") }
        let (session, options) = (lab.session, RequestOptions(cachePolicy: .returnCacheDontLoad))
        let requests = [
            session.post("", body: .text("y"), options: options), session.put("", options: options),
            session.get("", headers: [.ifMatch: "\"a\""], options: options),
        ]
        for request in requests {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .notCached && error?.processing == .neverSent)
        }
        #expect(lab.server.requests.value.isEmpty)
    }

    @Test func `a response that was requested before an invalidation is not stored`() async throws {
        let latch = try ServerLatch()
        let lab = try CacheLab { request in
            guard request.method == "GET" else { return [.response("")] }
            return [
                .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nContent-Length: 3\r\n\r\n"), .await(latch),
                .send("old"),
            ]
        }
        let response = try await lab.session.stream(.get, "").response()
        _ = try await lab.session.put("").response()
        latch.open()
        _ = try await response.body.collect(upTo: 10)
        let error = await #expect(throws: HTTPError.self) { try await lab.get("", [:], .returnCacheDontLoad) }
        #expect(error?.code == .notCached)
    }

    @Test func `HEAD shows that a stored response is current, or not`() async throws {
        let tag = Observed("\"a\"")
        let lab = try CacheLab { request in
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nETag: \(tag.value)\r\nContent-Length: 1\r\n\r\n"
            return request.method == "HEAD" ? [.send(head)] : [.send(head), .send("x")]
        }
        _ = try await lab.get()
        lab.advance(by: 20)
        _ = try await lab.session.head("").response()
        #expect(try await lab.get() == "200 x cache")
        lab.advance(by: 20)
        tag.update { $0 = "\"b\"" }
        _ = try await lab.session.head("").response()
        #expect(try await lab.get("", [:], .returnCacheElseLoad) == "200 x network")
    }

    @Test func `a 304 for another version leads to the whole response`() async throws {
        let lab = try CacheLab { request in
            request["If-None-Match"] == nil
                ? ServerStep.cached("x", "max-age=1", "ETag: \"a\"")
                : [.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")]
        }
        _ = try await lab.get()
        lab.advance(by: 5)
        #expect(try await lab.get() == "200 x network")
        #expect(lab.requests("If-None-Match") == ["GET -", "GET \"a\"", "GET -"])
    }

    @Test func `a 304 for another version leads to one more request, also if the cache can't be written`() async throws
    {
        let validations = Observed(0)
        let server = try AnsweringServer { request in
            let whole = ServerStep.cached("x", "max-age=0", "ETag: \"a\"")
            guard request["If-None-Match"] != nil else { return whole }
            // Ends a client that repeats itself.
            validations.update { $0 += 1 }
            guard validations.value < 10 else { return whole }
            return [.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")]
        }
        let store = ReadOnlyStore()
        let cache = HTTPCache(store, folder: nil, limit: 1 << 20) { 1_767_225_600 }
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, cache: cache)
        )
        _ = try await session.get("").response()
        store.isReadOnly.update { $0 = true }
        #expect(try await session.get("").response().source == .network)
        #expect(server.requests.value.map { $0["If-None-Match"] } == [nil, "\"a\"", nil])
    }

    @Test func `a request that is paused or cancelled uses a cache as any other`() async throws {
        let lab = try CacheLab(.folder) { _ in ServerStep.cached("x") }
        _ = try await lab.get()
        let paused = lab.session.get("", options: .init(startsAtOnce: false))
        paused.resume()
        paused.pause()
        paused.resume()
        #expect(try await paused.response().source == .cache)
        let cancelled = lab.session.get("")
        cancelled.cancel()
        _ = try? await cancelled.response()
        #expect(lab.session.requests.isEmpty)
    }

    @Test func `a request that is paused after a redirect asks the cache about the target`() async throws {
        struct PauseAfterRedirect: EventMonitor {
            func request(_ request: RequestHandle, did event: RequestEvent) {
                if case .redirected = event, request.id == 1 { request.pause() }
            }
        }
        let change: (inout HTTPConfiguration) -> Void = { $0.eventMonitors = [PauseAfterRedirect()] }
        let lab = try CacheLab(.memory, change) { request in
            request.path == "/from"
                ? [.response("", status: "302 Found", headers: ["Location: /to"])] : ServerStep.cached(request.path)
        }
        let request = lab.session.get("/from", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        for await case .paused in events { break }
        request.resume()
        #expect(try await request.string() == "/to")
        let again = try await lab.session.get("/from").response()
        #expect(again.redirects.count == 1 && again.source == .cache)
        #expect(lab.server.requests.value.map(\.path) == ["/from", "/to", "/from"])
    }

    // MARK: Users

    @Test func `a private response is used for requests with the same cookies only`() async throws {
        let lab = try CacheLab { ServerStep.cached($0["Cookie"] ?? "nobody", "private, max-age=10") }
        for user in ["ann", "bob"] {
            #expect(try await lab.get("", [.cookie: "user=\(user)"]) == "200 user=\(user) network")
            #expect(try await lab.get("", [.cookie: "user=\(user)"]) == "200 user=\(user) cache")
        }
        #expect(try await lab.get() == "200 nobody network")
        #expect(try await lab.get() == "200 nobody cache")
        #expect(try await lab.get("", [.cookie: "user=ann"]) == "200 user=ann cache")
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `sessions with stores of their own cookies share no private response`(place: CacheLab.Place) async throws {
        let lab = try CacheLab(place) { request in
            request.path == "/in"
                ? [.response("in", headers: ["Set-Cookie: user=\(request["X-User"] ?? ""); Path=/"])]
                : ServerStep.cached(request["Cookie"] ?? "nobody", "private, max-age=10")
        }
        let other = try HTTPSession(
            baseURL: lab.server.url,
            configuration: .init(timeouts: .lasting, cache: lab.cache)
        )
        let name = try #require(HTTPField.Name("X-User"))
        for (session, user) in [(lab.session, "ann"), (other, "bob")] {
            _ = try await session.get(
                "/in",
                headers: [name: user],
                options: .init(cachePolicy: .reloadIgnoringLocalCache)
            )
            .response()
            for source in [ResponseSource.network, .cache] {
                let response = try await session.get("/me").response()
                #expect(String(decoding: response.bytes, as: UTF8.self) == "user=\(user)" && response.source == source)
            }
        }
    }

    @Test func `a response that a 304 makes private is used for no other user`() async throws {
        let lab = try CacheLab { request in
            request["If-None-Match"] == nil
                ? ServerStep.cached(request["Cookie"] ?? "nobody", "max-age=10", "ETag: \"a\"")
                : [.send("HTTP/1.1 304 Not Modified\r\nCache-Control: private, max-age=10\r\n\r\n")]
        }
        #expect(try await lab.get("", [.cookie: "user=ann"]) == "200 user=ann network")
        lab.advance(by: 10)
        #expect(try await lab.get("", [.cookie: "user=ann"]) == "200 user=ann validated")
        #expect(try await lab.get("", [.cookie: "user=bob"]) == "200 user=bob network")
    }
}

/// A store whose entries stay, as in a folder without permission to write.
private final class ReadOnlyStore: CacheStore {
    let isReadOnly = Observed(false)
    private let memory = CacheMemory(limit: 1 << 20)

    var blocks: Bool { false }
    var size: Int { memory.size }
    var maximumEntrySize: Int { memory.maximumEntrySize }

    func read(_ key: CacheKey) -> CacheEntry? { memory.read(key) }

    func write(_ record: CacheRecord, _ body: NewCachedBody, under key: CacheKey) {
        if !isReadOnly.value { memory.write(record, body, under: key) }
    }

    func update(_ entry: CacheEntry) { if !isReadOnly.value { memory.update(entry) } }

    func remove(_ key: CacheKey) { if !isReadOnly.value { memory.remove(key) } }

    func removeAll(of key: CacheKey) { if !isReadOnly.value { memory.removeAll(of: key) } }

    func removeAll() { if !isReadOnly.value { memory.removeAll() } }

    func makeSpilledBody() -> SpilledBody? { nil }
}
