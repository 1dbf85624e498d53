import Dispatch
import HTTPLab
import Locking
import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

/// The record of a request: its events for monitors, its metrics, its URL and the thread of its closures.
@Suite(.timeLimit(.minutes(5)))
struct RequestRecordTests {
    /// Records the ends of requests and of the decoding of their responses.
    private final class Ends: EventMonitor {
        let lines = Observed<[String]>([])

        func request(_ request: RequestHandle, did event: RequestEvent) {
            switch event {
            case .finished(.success(let response)): lines.update { $0.append("\(request.id) \(response.status)") }
            case .finished(.failure(let error)): lines.update { $0.append("\(request.id) \(error.code.rawValue)") }
            case .serialized(let error):
                lines.update { $0.append("\(request.id) serialized \(error?.code.rawValue ?? "")") }
            default: break
            }
        }
    }

    private struct Stub: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let status = Int(request.head.path?.dropFirst() ?? "") ?? 200
            var head = HTTPResponse(status: .init(code: status))
            head.headerFields[.contentType] = "application/json"
            return .init(head: head, body: Array("{".utf8))
        }
    }

    @Test func `monitors see responses that are rejected or can't be decoded`() async throws {
        let ends = Ends()
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(eventMonitors: [ends], transport: Stub())
        )
        _ = try await session.get("200").string()
        _ = try? await session.get("400").string()
        _ = try? await session.get("200").json()
        _ = try await session.get("400").response()
        let folder = try LabFolder()
        _ = try await session.download("200", to: folder.path + "/a").response()
        _ = try? await session.download("500", to: folder.path + "/b").response()
        let expected = [
            "1 200", "1 serialized ", "2 400", "2 serialized unacceptableStatus", "3 200",
            "3 serialized responseSerializationFailed", "4 400", "5 200", "5 serialized ", "6 500",
            "6 serialized unacceptableStatus",
        ]
        try await ends.lines.wait(for: "the events") { $0.count == expected.count }
        #expect(ends.lines.value == expected)
    }

    @Test func `monitors see requests that could not be made`() async throws {
        let ends = Ends()
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(eventMonitors: [ends], transport: Stub())
        )
        session.get("http://a b/")
        session.post("", parameters: ["x": Double.nan])
        _ = session.stream(.get, "ftp://example.com/")
        _ = try await session.get("200").response()
        session.invalidate()
        session.get("200")
        try await ends.lines.wait(for: "the events") { $0.count == 5 }
        #expect(
            ends.lines.value == [
                "1 invalidURL", "2 requestSerializationFailed", "3 invalidURL", "4 200", "5 sessionInvalidated",
            ]
        )
    }

    @Test func `the response's URL has its query, and events, errors and redirects don't`() async throws {
        let server = try AnsweringServer { request in
            [request.path == "/end" ? .response("{") : .response(status: "302 Found", headers: ["Location: /end?c=d"])]
        }
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        let response = try await session.get("end?q=1#top", parameters: ["a": "b c"]).response()
        #expect(response.url == "\(server.url)/end?q=1&a=b%20c")
        #expect(response.fragment == "top")
        let redirected = try await session.get("a", parameters: ["q": 1]).response()
        #expect(redirected.url == "\(server.url)/end?c=d")
        #expect(redirected.redirects.map(\.from) == ["\(server.url)/a"])
        #expect(redirected.redirects.map(\.to) == ["\(server.url)/end"])
        let error = await #expect(throws: HTTPError.self) { try await session.get("a", parameters: ["q": 1]).json() }
        #expect(error?.request == "GET \(server.url)/a")
        let secret = try await session.get(
            server.url.replacing("://", with: "://user:secret@") + "/end?x=y"
        ).response()
        #expect(secret.url == "\(server.url)/end?x=y")
    }

    // MARK: Metrics

    @Test func `each redirect and each attempt has metrics of its own`() async throws {
        let count = Lock(0)
        let server = try AnsweringServer { request in
            if request.path == "/a" { return [.response("12345", status: "302 Found", headers: ["Location: /b?q=1"])] }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return [isFirst ? .response("xy", status: "503 Service Unavailable") : .response("123")]
        }
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, retry: .init(maximumAttempts: 2, baseDelay: .zero))
        )
        let request = session.put("a", body: .text("body"), options: .init(redirects: .follow()))
        let metrics = try await request.response().metrics
        let exchanges = metrics.exchanges
        #expect(exchanges.map(\.status) == [302, 503, 200])
        #expect(exchanges.map(\.url) == ["a", "b", "b"].map { "\(server.url)/\($0)" })
        #expect(exchanges.map(\.isReused) == [false, true, true])
        #expect(exchanges.map(\.bodyBytesReceived) == [5, 2, 3])
        #expect(exchanges.map(\.bodyBytesSent) == [4, 4, 4])
        #expect(exchanges.allSatisfy { $0.version == "HTTP/1.1" && $0.firstByte != nil && $0.duration >= .zero })
        #expect(exchanges.allSatisfy { $0.connection?.remoteAddress == "127.0.0.1:\(server.port)" })
        #expect(exchanges.allSatisfy { $0.connection?.localAddress == metrics.localAddress })
        #expect(metrics.version == "HTTP/1.1" && metrics.attempts == 3)
        #expect(request.metrics?.exchanges.count == 3)
        session.invalidate()
    }

    @Test func `a failure has metrics with the exchanges before it`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .reset,
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) { try await session.get("a?b=c").response() }
        let metrics = try #require(error?.metrics)
        #expect(metrics.total != nil && metrics.remoteAddress == "127.0.0.1:\(server.port)")
        #expect(metrics.exchanges.map(\.status) == [200])
        #expect(metrics.exchanges.map(\.url) == ["http://127.0.0.1:\(server.port)/a"])
        #expect(metrics.exchanges.first?.version == "HTTP/1.1")
    }

    @Test func `a request that was not sent has metrics without exchanges`() async throws {
        let session = try HTTPSession(configuration: .lasting)
        for url in ["http://127.0.0.1:1/", "http://a b/"] {
            let request = session.get(url)
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.metrics?.exchanges.isEmpty == true && error?.metrics?.total != nil)
            #expect(request.metrics?.exchanges.isEmpty == true)
        }
    }

    @Test func `a redirect to a server that refuses connections keeps the first exchange`() async throws {
        let server = try AnsweringServer { _ in
            [.response(status: "302 Found", headers: ["Location: http://127.0.0.1:1/"])]
        }
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) { try await session.get("a").response() }
        #expect(error?.code == .connectionRefused)
        #expect(error?.metrics?.exchanges.map(\.status) == [302])
        #expect(error?.metrics?.exchanges.first?.url == "\(server.url)/a")
    }

    @Test func `a rejected response has metrics`() async throws {
        let session = try HTTPSession(baseURL: "http://example.com", configuration: .init(transport: Stub()))
        let error = await #expect(throws: HTTPError.self) { try await session.get("400").string() }
        #expect(error?.metrics?.exchanges.map(\.status) == [400])
        #expect(error?.metrics?.exchanges.first?.connection == nil)
    }

    // MARK: Callbacks

    @Test func `a closure without a queue runs on the session's queue, not on the event loop`() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "callbacks")
        queue.setSpecific(key: key, value: "callbacks")
        let server = try AnsweringServer { _ in [.response("{}", headers: ["Content-Type: application/json"])] }
        for (configuration, label) in [
            (HTTPConfiguration.lasting, nil),
            (HTTPConfiguration(timeouts: .lasting, callbackQueue: queue), "callbacks"),
        ] as [(HTTPConfiguration, String?)] {
            let session = try HTTPSession(baseURL: server.url, configuration: configuration)
            let loop = session.core.loop
            let folder = try LabFolder()
            let places = Observed<[(isLoop: Bool, label: String?)]>([])
            let note: @Sendable () -> Void = {
                let place = (isLoop: loop.inEventLoop, label: DispatchQueue.getSpecific(key: key))
                places.update { $0.append(place) }
            }
            session.get("").response { _ in note() }
            session.get("").decoded(EmptyResponse.self) { _ in note() }
            session.get("").value(StringResponseSerializer()) { _ in note() }
            session.download("", to: folder.path + "/f").response { _ in note() }
            session.get("http://a b/").response { _ in note() }
            try await places.wait(for: "the closures") { $0.count == 5 }
            #expect(places.value.allSatisfy { !$0.isLoop && $0.label == label })
        }
    }

    @Test func `the error for a body above the limit names the limit and the alternatives`() async throws {
        let server = try AnsweringServer { request in
            [
                request.path == "/announced"
                    ? .response("12345678901")
                    : .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n")
            ]
        }
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, maximumBodySize: 10)
        )
        let bound = "the response's body is larger than the 10 bytes that maximumBodySize allows in memory"
        let advice = "download it to a file, or read it as a stream, or raise maximumBodySize if that is right"
        let announced = await #expect(throws: HTTPError.self) { try await session.get("announced").response() }
        #expect(announced?.reason == "\(bound) (11 bytes were announced): \(advice)")
        let chunked = await #expect(throws: HTTPError.self) { try await session.get("chunked").response() }
        #expect(chunked?.reason == "\(bound): \(advice)")
        let folder = try LabFolder()
        let file = session.download("announced", to: .file(folder.path + "/f"), options: .init(maximumBodySize: 10))
        let limited = await #expect(throws: HTTPError.self) { try await file.response() }
        #expect(
            limited?.reason == """
                the response's body is larger than the 10 bytes that maximumBodySize allows (11 bytes were announced): raise \
                maximumBodySize if that is right
                """
        )
    }
}
