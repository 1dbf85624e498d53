import FoundationEssentials
import HTTPLab
import Locking
import NetworkClient
import Testing

/// Parameters of requests: what calls may pass, and where they go.
@Suite(.timeLimit(.minutes(5)))
struct ParameterTests {
    /// Keeps what is sent.
    private final class Recorder: Transport {
        let requests = Lock<[TransportRequest]>([])

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            requests.withLock { $0.append(request) }
            return .init(head: .init(status: .ok), body: [])
        }

        var targets: [String] { requests.withLock { $0.map { $0.head.path ?? "" } } }
    }

    private let recorder = Recorder()

    private func session(_ serializer: any RequestSerializer = FormSerializer()) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(requestSerializer: serializer, transport: recorder)
        )
    }

    private struct Filter: Encodable {
        var isOpen = true
        var by: String?
    }

    @Test func `parameters are literals, variables, dictionaries or encodable values`() async throws {
        let session = try session()
        let (page, name, cursor, tags, texts) = (2, "Ann", String?.none, ["a", "b"], ["x": "1"])
        let numbers = ["f": ["n": UInt64.max]]
        let (stored, missing): (Parameters?, Filter?) = (["p": page], nil)
        let requests = [
            session.get("", parameters: ["page": page]), session.get("", parameters: ["q": name]),
            session.get("", parameters: ["q": "\(name)"]), session.get("", parameters: ["tags": tags]),
            session.get("", parameters: ["page": page + 1, "q": name, "cursor": cursor, "open": true]),
            session.get("", parameters: ["cursor": cursor]), session.get("", parameters: texts),
            session.get("", parameters: ["t": texts]), session.get("", parameters: numbers),
            session.get("", parameters: Filter()), session.get("", parameters: ["f": Filter(by: name), "page": page]),
            session.get("", parameters: missing), session.get("", parameters: stored), session.get("", parameters: nil),
            session.get("", parameters: [:]), session.get("", parameters: ["q": nil]),
            // Literals with mixed values further down.
            session.get("", parameters: ["f": ["a": 1, "b": ["c": true]]]),
            session.get("", parameters: ["a": [1, "x"]]),
            session.get("", parameters: ["a": [], "b": .null]),
            session.get("", parameters: ["f": ["a": page, "b": name] as Parameters]),
        ]
        for request in requests { _ = try await request.response() }
        let targets = requests.map { $0.head.path ?? "" }
        #expect(
            targets == [
                "/?page=2", "/?q=Ann", "/?q=Ann", "/?tags%5B%5D=a&tags%5B%5D=b", "/?open=true&page=3&q=Ann", "/",
                "/?x=1", "/?t%5Bx%5D=1", "/?f%5Bn%5D=18446744073709551615", "/?isOpen=true",
                "/?f%5Bby%5D=Ann&f%5BisOpen%5D=true&page=2", "/", "/?p=2", "/", "/", "/",
                "/?f%5Ba%5D=1&f%5Bb%5D%5Bc%5D=true", "/?a%5B%5D=1&a%5B%5D=x", "/?b", "/?f%5Ba%5D=2&f%5Bb%5D=Ann",
            ]
        )
        // A transport receives them in any order.
        #expect(recorder.targets.sorted() == targets.sorted())
    }

    @Test func `all methods take the same parameters`() async throws {
        let session = try session(
            FormSerializer(placement: .init(methodsInTarget: [.get, .head, .delete, .patch, .put]))
        )
        let texts = ["x": "1"]
        let requests: [RequestHandle] = [
            session.request(.get, "a", parameters: texts), session.request(.get, "b", parameters: ["a": [1, "x"]]),
            session.head("c", parameters: texts), session.head("d", parameters: ["a": [1, "x"]]),
            session.delete("e", parameters: texts), session.delete("f", parameters: ["a": [1, "x"]]),
            session.put("g", parameters: texts), session.put("h", parameters: ["a": [1, "x"]]),
            session.patch("i", parameters: texts), session.patch("j", parameters: ["a": [1, "x"]]),
            session.upload("k", from: .text(""), parameters: texts),
            session.upload("l", from: .text(""), parameters: ["a": [1, "x"]]),
            session.post("m", parameters: texts, body: .text("")),
            session.post("n", parameters: ["a": [1, "x"]], body: .text("")),
        ]
        for request in requests { _ = try await (request as? DataRequest)?.response() }
        let queries = ["?x=1", "?a%5B%5D=1&a%5B%5D=x"]
        #expect(recorder.targets.sorted() == zip("abcdefghijklmn", 0...).map { "/\($0)\(queries[$1 % 2])" })
    }

    @Test func `downloads and streams take the same parameters`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let folder = try LabFolder()
        let texts = ["x": "1"]
        _ = try await session.download("a", to: folder.path + "/a", parameters: texts).response()
        _ = try await session.download("b", to: folder.path + "/b", parameters: ["a": [1, "x"]]).response()
        _ = try await session.download("c", to: .file(folder.path + "/c"), parameters: texts).response()
        _ = try await session.download("d", to: .file(folder.path + "/d"), parameters: ["a": [1, "x"]]).response()
        for try await _ in try await session.stream(.get, "e", parameters: texts).response().body {}
        for try await _ in try await session.stream(.get, "f", parameters: ["a": [1, "x"]]).response().body {}
        let targets = server.connections.flatMap(\.requests).map { $0.head.split(separator: " ")[1] }
        let queries = ["?x=1", "?a%5B%5D=1&a%5B%5D=x"]
        #expect(targets.map(String.init) == zip("abcdef", 0...).map { "/\($0)\(queries[$1 % 2])" })
    }

    @Test func `what can't be sent fails the request with its key`() async throws {
        let session = try session()
        for request in [
            session.get("", parameters: ["ratio": Double.nan]), session.post("", parameters: ["ratio": Double.nan]),
            session.post("", parameters: ["ratio": Double.nan], body: .multipart([])),
            session.post("", parameters: ["ratio": Double.nan], body: .text("x")),
        ] {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .requestSerializationFailed && error?.processing == .neverSent)
            #expect(error?.reason == "the parameter 'ratio' is not a finite number (nan)")
        }
        let unnamed = await #expect(throws: HTTPError.self) {
            try await session.get("", parameters: [1, 2]).response()
        }
        #expect(unnamed?.reason.hasPrefix("the parameters are an array") == true)
        #expect(recorder.targets.isEmpty)
    }

    /// Returns the body of a recorded request as text, with `B` for the boundary.
    private func body(of request: TransportRequest?) -> String {
        let boundary = request?.head.headerFields[.contentType]?.split(separator: "boundary=").last.map(String.init)
        let text = String(decoding: request?.body ?? [], as: UTF8.self)
        return text.split(separator: boundary ?? "?", omittingEmptySubsequences: false).joined(separator: "B")
    }

    private static let parts = """
        --B\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n\
        --B\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n0\r\n\
        --B\r\nContent-Disposition: form-data; name="user"\r\n\r\nAnn\r\n\
        --B\r\nContent-Disposition: form-data; name="icon"; filename="icon.png"\r\nContent-Type: image/png\r\n\r\nx\r\n\
        --B--\r\n
        """

    @Test func `parameters of a multipart form are its first parts, not in the URL`() async throws {
        let serializers: [any RequestSerializer] = [
            FormSerializer(options: .init(booleans: .numeric)), JSONSerializer(options: .init(booleans: .numeric)),
        ]
        for serializer in serializers {
            let session = try session(serializer)
            let form = RequestBody.multipart([.bytes(Array("x".utf8), name: "icon", fileName: "icon.png")])
            let parameters: Parameters = ["user": "Ann", "a": [true, false]]
            _ = try await session.post("p", parameters: parameters, body: form).response()
            _ = try await session.upload("u", from: form, method: .put, parameters: parameters).response()
            let throttled = form.throttled(.init(packetSize: 64, delay: .milliseconds(1)))
            _ = try await session.post("t", parameters: parameters, body: throttled).response()
        }
        #expect(recorder.targets == ["/p", "/u", "/t", "/p", "/u", "/t"])
        for request in recorder.requests.withLock({ $0 }) {
            #expect(body(of: request) == Self.parts)
            #expect(request.head.headerFields[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
        }
    }

    @Test func `a form with parameters has its exact length, and its stream is read once`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let stream = MultipartStream.once(AsyncStream<[UInt8]> { $0.finish() }, length: 0)
        let form = RequestBody.multipart([.stream(stream, name: "file")])
        _ = try await session.post("a", parameters: ["user": "Ann"], body: form).response()
        let request = try #require(server.connections.first?.requests.first)
        #expect(request.head.hasPrefix("POST /a HTTP/1.1\r\n"))
        #expect(request.head.contains("Content-Length: \(request.body.count)\r\n"))
        let error = await #expect(throws: HTTPError.self) {
            try await session.post("a", parameters: ["user": "Bob"], body: form).response()
        }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func `parameters next to another body go into the query in the session's format`() async throws {
        let session = try session(JSONSerializer(options: .init(booleans: .numeric, arrays: .noBrackets)))
        _ = try await session.post("a", parameters: ["b": [true]], body: .text("x")).response()
        #expect(recorder.targets == ["/a?b=1"])
        let own = try self.session(FormSerializer { _ throws(RequestSerializationError) in "own" })
        _ = try await own.post("a", parameters: ["b": true], body: .text("x")).response()
        #expect(recorder.targets == ["/a?b=1", "/a?own"])
    }

    @Test func `JSON of a response has subscripts and keeps digits`() async throws {
        struct Echo: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                var head = HTTPResponse(status: .ok)
                head.headerFields[.contentType] = "application/json"
                return .init(head: head, body: Array(#"{"user":{"id":18446744073709551615,"name":"Ann"}}"#.utf8))
            }
        }
        let session = try HTTPSession(baseURL: "http://example.com", configuration: .init(transport: Echo()))
        let user = try await session.get("").json()["user"]
        #expect(user?["name"]?.string == "Ann" && user?["id"]?.number?.integer() == UInt64.max)
        #expect(user?["none"] == nil && user?["name"]?.int == nil)
    }
}
