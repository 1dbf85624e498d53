import HTTPLab
import Locking
import NetworkClient
import Testing

/// Tags and user information, by which a program recognizes its requests.
@Suite(.timeLimit(.minutes(5)))
struct RequestMarksTests {
    /// A value that only its owner understands.
    private struct Order: Sendable, Equatable { var number: Int }

    @Test func `tag and user information are on the request, on copies, and on those that can't be made`() throws {
        let session = try HTTPSession(baseURL: "http://127.0.0.1:9/")
        let options = RequestOptions(startsAtOnce: false, tag: "orders", userInfo: Order(number: 7))
        let lab = try DownloadLab()
        let requests: [RequestHandle] = [
            session.get("", options: options), session.post("", parameters: ["a": 1], options: options),
            session.upload("", from: .text("x"), options: options), session.stream(.get, "", options: options),
            session.download("", to: lab.path, options: .init(request: options)),
            session.get("http://no such host/", options: options),
        ]
        for request in requests + requests.map({ $0.copy() }) {
            #expect(request.tag == "orders")
            #expect(request.userInfo as? Order == Order(number: 7))
        }
        let plain = session.get("", options: .init(startsAtOnce: false))
        #expect(plain.tag == nil && plain.userInfo == nil)
        session.invalidate(.cancellingRequests)
    }

    @Test func `errors and events have the tag`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("no", status: "404 Not Found")])])
        let tags = Tags()
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [tags])
        )
        let options = RequestOptions(tag: "a \"b\"\n")
        let status = await #expect(throws: HTTPError.self) { try await session.get("x", options: options).string() }
        #expect(status?.tag == "a \"b\"\n")
        #expect(status?.description.hasPrefix(#"GET http://127.0.0.1:\#(server.port)/x ("a \"b\"\n"): "#) == true)
        let invalid = await #expect(throws: HTTPError.self) {
            try await session.get("http://no such host/", options: options).response()
        }
        #expect(invalid?.tag == "a \"b\"\n")
        let lab = try DownloadLab()
        let file = await #expect(throws: HTTPError.self) {
            try await session.download("x", to: lab.path, options: .init(request: options)).response()
        }
        #expect(file?.tag == "a \"b\"\n")
        let untagged = await #expect(throws: HTTPError.self) { try await session.get("x").string() }
        #expect(untagged?.tag == nil)
        #expect(untagged?.description.contains("(") == false)
        #expect(tags.all.contains("a \"b\"\n"))
    }

    @Test func `the requests of each kind are listed until they finish`() async throws {
        let session = try HTTPSession(baseURL: "http://127.0.0.1:9/")
        let (options, lab) = (RequestOptions(startsAtOnce: false), try DownloadLab())
        let data = session.post("", body: .text("x"), options: options)
        let uploads = (1...2).map { _ in session.upload("", from: .text("x"), options: options) }
        let download = session.download("", to: lab.path, options: .init(request: options))
        let stream = session.stream(.get, "", options: options)
        #expect(session.requests(of: .data).map(\.id) == [data.id])
        #expect(session.requests(of: .upload).map(\.id) == uploads.map(\.id))
        #expect(session.requests(of: .download).map(\.id) == [download.id])
        #expect(session.requests(of: .stream).map(\.id) == [stream.id])
        uploads[0].cancel()
        _ = await uploads[0].ending()
        #expect(session.requests(of: .upload).map(\.id) == [uploads[1].id])
        session.invalidate(.cancellingRequests)
    }
}

/// Records the tags of requests with events.
private final class Tags: EventMonitor {
    private let tags = Lock<Set<String>>([])

    var all: Set<String> { tags.withLock { $0 } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        if let tag = request.tag { tags.withLock { _ = $0.insert(tag) } }
    }
}
