import Foundation
import HTTPLab
import HTTPTypes
import NIOCore
import NetworkClient
import NetworkClientFoundation
import Testing

/// Requests that are given by a `URL` or by an `HTTPRequest`, and bodies as `Data`.
@Suite(.timeLimit(.minutes(10)))
struct FoundationTypesTests {
    private let server: AnsweringServer
    private let session: HTTPSession

    init() throws {
        server = try AnsweringServer { _ in [.response("abc")] }
        session = try HTTPSession(baseURL: "\(server.url)/base/", configuration: .init(timeouts: .lasting))
    }

    private var lines: [String] { server.requests.value.map { "\($0.method) \($0.target)" } }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func `every verb takes a URL`() async throws {
        let url = try url("\(server.url)/a?b=%20c#d")
        _ = try await session.get(url).response()
        _ = try await session.head(url).response()
        _ = try await session.delete(url).response()
        _ = try await session.post(url).response()
        _ = try await session.put(url).response()
        _ = try await session.patch(url).response()
        _ = try await session.upload(url, from: .text("x")).response()
        _ = try await session.request(.options, url).response()
        #expect(try await session.stream(.get, url).response().status == 200)
        let verbs = ["GET", "HEAD", "DELETE", "POST", "PUT", "PATCH", "POST", "OPTIONS", "GET"]
        #expect(lines == verbs.map { "\($0) /a?b=%20c" })
    }

    @Test func `a relative URL is resolved against its own base, or the session's`() async throws {
        let own = try #require(URL(string: "x", relativeTo: try url("\(server.url)/own/")))
        _ = try await session.get(own).response()
        _ = try await session.get(try url("y")).response()
        #expect(lines == ["GET /own/x", "GET /base/y"])
    }

    @Test func `parameters and fields go along with a URL`() async throws {
        let field = try #require(HTTPField.Name("X-A"))
        let url = try url("\(server.url)/a")
        _ = try await session.get(url, parameters: ["q": "1"], headers: [field: "b"]).response()
        #expect(lines == ["GET /a?q=1"])
        #expect(server.requests.value.first?["X-A"] == "b")
    }

    @Test func `Data is sent and received`() async throws {
        let url = try url("\(server.url)/a")
        #expect(try await session.post(url, body: .data(Data([1, 2, 3]))).data() == Data("abc".utf8))
        #expect(server.requests.value.first?.body == [1, 2, 3])
        #expect(server.requests.value.first?["Content-Type"] == "application/octet-stream")
    }

    @Test func `a download goes to a file URL, whatever its name`() async throws {
        let folder = try LabFolder()
        let file = URL(filePath: folder.path).appending(path: "a b%20c.txt")
        let download = try await session.download(try url("\(server.url)/a"), to: file).response()
        #expect(download.file.url == file)
        #expect(try Data(contentsOf: file) == Data("abc".utf8))
    }

    @Test func `a download to another URL than a file's fails before it is sent`() async throws {
        let request = session.download(try url("\(server.url)/a"), to: try url("https://example.com/file"))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason == "a download goes to a file, not to 'https': use URL(filePath:)")
        #expect(lines == [])
    }

    @Test func `a URL of another scheme is an error of its request`() async throws {
        let request = session.get(try url("mailto:ann@example.com"))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .invalidURL)
    }

    @Test func `an HTTPRequest is sent with its method, URL and fields`() async throws {
        let field = try #require(HTTPField.Name("X-A"))
        let authority = "127.0.0.1:\(server.port)"
        let whole = HTTPRequest(
            method: .put,
            scheme: "http",
            authority: authority,
            path: "/whole?q",
            headerFields: [field: "b", .userAgent: "mine"]
        )
        _ = try await session.send(whole, body: .text("x")).response()
        _ = try await session.send(.init(method: .get, scheme: nil, authority: nil, path: "rest")).response()
        _ = try await session.send(.init(method: .get, scheme: nil, authority: authority, path: "/net")).response()
        _ = try await session.send(.init(method: .get, scheme: "http", authority: authority, path: nil)).response()
        #expect(lines == ["PUT /whole?q", "GET /base/rest", "GET /net", "GET /"])
        #expect(server.requests.value.first?["X-A"] == "b")
        #expect(server.requests.value.first?["User-Agent"] == "mine")
        #expect(server.requests.value.first?.body == Array("x".utf8))
    }

    @Test func `an HTTPRequest can be downloaded and streamed`() async throws {
        let folder = try LabFolder()
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "a")
        let file = try await session.download(head, to: .file(folder.path + "/f"), body: .text("x")).response().file
        #expect(file.size == 3)
        let body = try await session.stream(head).response().body
        #expect(try await body.collect(upTo: 10).readableBytes == 3)
        #expect(lines == ["POST /base/a", "POST /base/a"])
    }
}
