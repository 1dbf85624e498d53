import HTTPLab
import Locking
import NIOPosix
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Interceptors that change requests before they are sent.
@Suite(.timeLimit(.minutes(5)))
struct AdaptingTests {
    private struct Refusal: Error {}

    private static let quick = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))

    private func session(
        _ base: String,
        _ interceptors: [any RequestInterceptor],
        change: (inout HTTPConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration(timeouts: .lasting, interceptors: interceptors)
        try change(&configuration)
        return try HTTPSession(baseURL: base, configuration: configuration)
    }

    /// Returns a server that responds with one status after the other; the last one applies to all further requests.
    private func server(_ statuses: String...) throws -> AnsweringServer {
        let count = Lock(0)
        return try AnsweringServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return [.response("abc", status: statuses[min(number, statuses.count) - 1])]
        }
    }

    private func marks(_ server: AnsweringServer) -> [String?] { server.requests.value.map { $0["X-Mark"] } }

    private func error(_ request: DataRequest) async -> HTTPError? {
        await #expect(throws: HTTPError.self) { try await request.response() }
    }

    @Test func `each attempt is changed, from what it was without a change`() async throws {
        let server = try server(
            "503 Busy",
            "302 There\r\nLocation: /b",
            "401 Who\r\nWWW-Authenticate: Basic realm=\"r\"",
            "200 OK"
        )
        let interceptor = ClosureInterceptor.setting(.mark) { request, attempt in
            "\(attempt.number) \(request.path ?? "") \(request.headerFields[.mark] ?? "-")"
        }
        let session = try session(server.url, [interceptor]) { $0.retry = Self.quick }
        let options = RequestOptions(credential: .init(user: "anna", password: "secret"))
        let request = session.get("a", options: options)
        #expect(try await request.response().status == 200)
        #expect(marks(server) == ["1 /a -", "2 /a -", "3 /b -", "4 /b -"])
        #expect(request.head.headerFields[.mark] == nil)
    }

    @Test func `the session's interceptors are first, and the request's see what they did`() async throws {
        let server = try server("200 OK")
        func adding(_ letter: String) -> ClosureInterceptor {
            .setting(.mark) { request, _ in (request.headerFields[.mark] ?? "") + letter }
        }
        let session = try session(server.url, [adding("a"), adding("b")])
        _ = try await session.get("", options: .init(interceptors: [adding("c"), adding("d")])).response()
        _ = try await session.get("").response()
        #expect(marks(server) == ["abcd", "ab"])
        let bare = try HTTPSession(baseURL: server.url, configuration: .lasting)
        _ = try await bare.get("", options: .init(interceptors: [adding("e")])).response()
        #expect(marks(server).last == "e")
    }

    @Test func `a download's range is there before, credentials come after`() async throws {
        let lab = try DownloadLab()
        let server = try server("200 OK")
        let interceptor = ClosureInterceptor.setting(.mark) { request, _ in
            "\(request.headerFields[.range] ?? "-") \(request.headerFields[.authorization] ?? "-")"
        }
        let session = try session(server.url, [interceptor]) { configuration in
            let tokens = BearerTokens(for: server.url, token: "t") { _ in "t" }
            configuration.authentication = .init(tokens: [tokens])
        }
        try lab.leavePart([1, 2, 3], of: "\(server.url)/a", [#"etag "v1""#])
        _ = try await session.download("a", to: lab.path).response()
        #expect(marks(server) == ["bytes=3- -"])
        #expect(server.requests.value.first?["Authorization"] == "Bearer t")
    }

    @Test func `path and query can be changed, and the response's URL stays`() async throws {
        let server = try server("200 OK")
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            var changed = request
            changed.path = "\(request.path ?? "")&signature=1"
            return changed
        })
        let response = try await session(server.url, [interceptor]).get("a?b=c").response()
        #expect(server.requests.value.map(\.target) == ["/a?b=c&signature=1"])
        #expect(response.url == "\(server.url)/a?b=c")
    }

    @Test func `the body is there to be signed, and its framing stays`() async throws {
        let server = try server("200 OK")
        let interceptor = ClosureInterceptor(onAdapt: { request, attempt in
            var changed = request
            changed.headerFields[.mark] = "\(attempt.body?.count ?? -1)"
            changed.headerFields[.contentLength] = "7"
            changed.headerFields[.transferEncoding] = "chunked"
            return changed
        })
        let session = try session(server.url, [interceptor])
        _ = try await session.post("a", body: .bytes([1, 2])).response()
        _ = try await session.get("a").response()
        #expect(marks(server) == ["2", "-1"])
        #expect(server.requests.value.map(\.body) == [[1, 2], []])
        #expect(server.requests.value.map { $0["Content-Length"] } == ["2", nil])
        #expect(server.requests.value.allSatisfy { $0["Transfer-Encoding"] == nil })
    }

    @Test func `a proxy reads the changed URL as a whole`() async throws {
        let proxy = try server("200 OK")
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            var changed = request
            changed.path = "/other"
            return changed
        })
        let session = try session("http://origin.example", [interceptor]) { configuration in
            configuration.proxy = .all(try .init("http://me:pw@127.0.0.1:\(proxy.port)"))
        }
        _ = try await session.get("a").response()
        #expect(proxy.requests.value.map(\.target) == ["http://origin.example/other"])
        #expect(proxy.requests.value.first?["Proxy-Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test(arguments: ["scheme", "authority", "method"])
    func `origin and method cannot be changed`(what: String) async throws {
        let server = try server("200 OK")
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            var changed = request
            switch what {
            case "scheme": changed.scheme = "https"
            case "authority": changed.authority = "localhost:1"
            default: changed.method = .post
            }
            return changed
        })
        let error = await error(try session(server.url, [interceptor]).get("a"))
        #expect(error?.code == .interceptorFailed)
        #expect(error?.processing == .neverSent)
        #expect(error?.reason.contains("it may change path, query and fields") == true, "\(error.debugDescription)")
        #expect(server.requests.value.isEmpty)
    }

    @Test func `an error ends the request, is its cause, and is not retried`() async throws {
        let server = try server("200 OK")
        let count = Lock(0)
        let interceptor = ClosureInterceptor(onAdapt: { _, _ in
            count.withLock { $0 += 1 }
            throw Refusal()
        })
        let error = await error(try session(server.url, [interceptor]) { $0.retry = Self.quick }.get("a"))
        #expect(error?.code == .interceptorFailed)
        #expect(error?.processing == .neverSent)
        #expect(error?.cause is Refusal)
        #expect(error?.request == "GET \(server.url)/a")
        #expect(count.withLock { $0 } == 1)
        #expect(server.requests.value.isEmpty)
    }

    @Test func `it is not called on an event loop`() async throws {
        let server = try server("404 No", "200 OK")
        let loops = Lock<[Bool]>([])
        let interceptor = ClosureInterceptor(
            onAdapt: { request, _ in
                loops.withLock { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
                return request
            },
            onRetry: { _ in
                loops.withLock { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
                return .retry(in: .zero, because: .interceptor)
            }
        )
        _ = try await session(server.url, [interceptor]).get("a").response()
        #expect(loops.withLock { $0 } == [false, false, false])
    }

    @Test func `it is not called before the request leaves its gate`() async throws {
        let server = try server("200 OK")
        let network = MadeUpNetwork(.notReachable)
        let interceptor = ClosureInterceptor.setting(.mark) { _, _ in "\(network.status)" }
        let session = try session(server.url, [interceptor]) { $0.connectivity = network }
        let request = session.get("", options: .init(startsAtOnce: false, gate: .waitsForConnectivity(nil)))
        _ = try await request.startAndWait()
        network.become(.wifi)
        _ = try await request.response()
        #expect(marks(server) == ["wifi"])
    }

    @Test func `its task is cancelled with the request`() async throws {
        let server = try server("200 OK")
        let states = Observed<[String]>([])
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            states.update { $0.append("began") }
            try? await Task.sleep(for: .seconds(3_600))
            states.update { $0.append(Task.isCancelled ? "cancelled" : "ended") }
            return request
        })
        let request = try session(server.url, [interceptor]).get("a")
        try await states.wait(for: "the interceptor") { $0 == ["began"] }
        #expect(request.state == .waiting)
        request.cancel()
        #expect(await error(request)?.code == .cancelled)
        try await states.wait(for: "the end of the interceptor") { $0 == ["began", "cancelled"] }
        #expect(server.requests.value.isEmpty)
    }

    @Test func `the deadline ends an interceptor that never returns`() async throws {
        let server = try server("200 OK")
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return request
        })
        let options = RequestOptions(timeouts: .init(total: .milliseconds(50)))
        let error = await error(try session(server.url, [interceptor]).get("a", options: options))
        #expect(error?.code == .requestTimedOut)
        #expect(error?.processing == .neverSent)
        #expect(server.requests.value.isEmpty)
    }

    @Test func `it is called again after a pause`() async throws {
        let server = try server("200 OK")
        let calls = Observed(0)
        let interceptor = ClosureInterceptor(onAdapt: { request, _ in
            var request = request
            let call = calls.update { calls in
                calls += 1
                return calls
            }
            if call == 1 { try? await Task.sleep(for: .seconds(3_600)) }
            request.headerFields[.mark] = "\(call)"
            return request
        })
        let request = try session(server.url, [interceptor]).get("a")
        try await calls.wait(for: "the interceptor") { $0 == 1 }
        let events = request.events
        request.pause()
        for await case .paused in events { break }
        #expect(request.state == .paused)
        request.resume()
        #expect(try await request.response().status == 200)
        #expect(marks(server) == ["2"])
        #expect(request.isFinished)
    }

    @Test func `a transport gets the changed request`() async throws {
        struct Mirror: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                .init(head: .init(status: .ok), body: Array((request.head.headerFields[.mark] ?? "").utf8))
            }
        }
        let session = try session("http://origin.example", [ClosureInterceptor.setting(.mark) { _, _ in "m" }]) {
            $0.transport = Mirror()
        }
        #expect(try await session.get("a").string() == "m")
    }
}
