import Dispatch
import HTTPLab
import Testing

@testable import NetworkClient

/// The common behaviour of all kinds of requests, and the results of each kind.
@Suite(.timeLimit(.minutes(5)))
struct RequestKindTests {
    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: .lasting))
    }

    @Test func `a list of requests says of which kind each is`() async throws {
        let (lab, session) = (try DownloadLab(), try HTTPSession(baseURL: "http://127.0.0.1:9/"))
        let options = RequestOptions(startsAtOnce: false)
        let requests: [RequestHandle] = [
            session.get("", options: options),
            session.download("", to: lab.path, options: .init(request: options)),
            session.download("", to: .file(lab.path), options: options),
            session.upload("", from: .text("x"), options: options),
            session.stream(.get, "", options: options),
        ]
        let kinds: [RequestHandle.Kind] = [.data, .download, .download, .upload, .stream]
        #expect(session.requests.map(\.kind) == kinds)
        #expect(requests.map { $0.copy().kind } == kinds)
        session.invalidate(.cancellingRequests)
    }

    @Test func `each kind fails with the reason why it could not be made`() async throws {
        let (lab, session) = (try DownloadLab(), try HTTPSession())
        let requests: [RequestHandle] = [
            session.get("nowhere"), session.download("nowhere", to: lab.path), session.stream(.get, "nowhere"),
        ]
        #expect(requests.map(\.kind) == [.data, .download, .stream])
        let data = await #expect(throws: HTTPError.self) { try await session.get("nowhere").response() }
        let file = await #expect(throws: HTTPError.self) {
            try await session.download("nowhere", to: lab.path).response()
        }
        let stream = await #expect(throws: HTTPError.self) { try await session.stream(.get, "nowhere").response() }
        #expect([data, file, stream].map(\.?.code) == [.invalidURL, .invalidURL, .invalidURL])
        #expect(lab.names == [])
    }

    @Test func `a request has metrics once it has ended, well or not`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .response("yes")] : [.readRequest, .close]
        }
        let session = try Self.session(server)
        let request = session.get("", options: .init(startsAtOnce: false))
        #expect(request.metrics == nil)
        request.resume()
        let metrics = try await request.response().metrics
        #expect(request.metrics?.total == metrics.total)
        #expect(request.metrics?.bodyBytesReceived == 3)
        let failed = session.post("", body: .text("1234"))
        await #expect(throws: HTTPError.self) { try await failed.response() }
        #expect(failed.metrics?.attempts == 1)
        #expect(failed.metrics?.bodyBytesSent == 4)
        #expect(try #require(failed.metrics?.total) > .zero)
        let cancelled = session.get("", options: .init(startsAtOnce: false))
        cancelled.cancel()
        await #expect(throws: HTTPError.self) { try await cancelled.response() }
        #expect(cancelled.metrics?.attempts == 0)
        #expect(session.get("http://no such host/").metrics != nil)
    }

    @Test func `a closure receives a download's file, or why there is none`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            [.readRequest, .response("yes", status: number == 0 ? "200 OK" : "404 Not Found"), .close]
        }
        let session = try Self.session(server)
        let queue = DispatchQueue(label: "test")
        func download() async -> Result<DownloadResponse, HTTPError> {
            await withCheckedContinuation { continuation in
                session.download("file", to: lab.path)
                    .response(on: queue) { result in
                        dispatchPrecondition(condition: .onQueue(queue))
                        continuation.resume(returning: result)
                    }
            }
        }
        let response = try await download().get()
        #expect(response.file.size == 3)
        #expect(response.status == 200)
        #expect(response.head.headerFields[.contentLength] == "3")
        #expect(response.url == "http://127.0.0.1:\(server.port)/file")
        #expect(response.metrics.bodyBytesReceived == 3)
        #expect(response.redirects == [])
        let failure = await download()
        guard case .failure(let error) = failure else { return #expect(Bool(false), "\(failure)") }
        #expect(error.code == .unacceptableStatus)
        #expect(error.response?.status.code == 404)
        #expect(error.body == Array("yes".utf8))
        #expect(lab.file == Array("yes".utf8))
    }
}
