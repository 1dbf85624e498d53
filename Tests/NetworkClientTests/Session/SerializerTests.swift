import FoundationEssentials
import HTTPLab
import Locking
import NetworkClient
import Testing

/// The serializers of a session and of single requests.
@Suite(.timeLimit(.minutes(5)))
struct SerializerTests {
    /// Keeps what is sent, and responds with what a closure returns.
    private final class Recorder: Transport {
        let requests = Lock<[TransportRequest]>([])
        private let respond: @Sendable (HTTPRequest) -> TransportResponse

        init(
            _ respond: @escaping @Sendable (HTTPRequest) -> TransportResponse = { _ in .init(head: .init(status: .ok)) }
        ) {
            self.respond = respond
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            requests.withLock { $0.append(request) }
            return respond(request.head)
        }
    }

    private static let signature = HTTPField.Name("Signature") ?? .cookie

    /// Signs the method, the target and the body in memory.
    private struct SigningSerializer: RequestSerializer {
        var inner: any RequestSerializer = JSONSerializer()

        var options: ParameterOptions { inner.options }

        func serialize(
            _ request: SerializedRequest,
            parameters: Parameters?
        ) throws(RequestSerializationError) -> SerializedRequest {
            var request = try inner.serialize(request, parameters: parameters)
            let body = request.hasStreamedBody ? "streamed" : request.body.map { String(decoding: $0, as: UTF8.self) }
            let text = "\(request.head.method) \(request.head.path ?? "") \(body ?? "none")"
            request.head.headerFields[SerializerTests.signature] = Self.signature(of: text)
            return request
        }

        static func signature(of text: String) -> String {
            // FNV-1a; the test needs no secret.
            let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return String(hash, radix: 16)
        }
    }

    private func session(_ transport: Recorder, _ serializer: any RequestSerializer) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(requestSerializer: serializer, transport: transport)
        )
    }

    @Test func `a custom serializer is called for every request, and can sign its body`() async throws {
        let recorder = Recorder()
        let session = try session(recorder, SigningSerializer())
        let file = try LabFolder()
        let path = try file.write("f", "contents")
        let requests: [(RequestHandle, String)] = [
            (session.get("a"), "GET /a none"), (session.head("b"), "HEAD /b none"),
            (session.get("c", parameters: ["x": 1]), "GET /c?x=1 none"),
            (session.post("d", parameters: ["x": 1]), #"POST /d {"x":1}"#), (session.post("e"), "POST /e none"),
            (session.post("f", body: .text("t")), "POST /f t"),
            (session.put("g", body: .json(["y": 2])), #"PUT /g {"y":2}"#),
            (session.post("h", parameters: ["x": 1], body: .text("t")), "POST /h?x=1 t"),
            (session.upload("i", from: .file(path)), "POST /i streamed"),
            (session.post("j", parameters: ["x": 1], body: .multipart([])), "POST /j streamed"),
            (session.stream(.get, "k"), "GET /k none"), (session.delete("l"), "DELETE /l none"),
        ]
        for (request, text) in requests {
            _ = await request.ending()
            let expected = SigningSerializer.signature(of: text)
            #expect(request.head.headerFields[Self.signature] == expected, "\(text)")
        }
        #expect(recorder.requests.withLock { $0.count } == requests.count)
    }

    @Test func `the server verifies the signature after a retry too`() async throws {
        let server = try AnsweringServer { request in
            let target = request.target
            let text =
                "\(request.method) \(target) \(request.body.isEmpty ? "none" : String(decoding: request.body, as: UTF8.self))"
            guard request["Signature"] == SigningSerializer.signature(of: text) else {
                return [.response(status: "403 Forbidden")]
            }
            return [.response(status: "503 Service Unavailable")]
        }
        let retry = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        let configuration = HTTPConfiguration(
            timeouts: .lasting,
            requestSerializer: SigningSerializer(),
            retry: retry
        )
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        #expect(try await session.get("a", parameters: ["x": "ü"]).response().status == 503)
        #expect(try await session.put("b", parameters: ["x": "ü"]).response().status == 503)
        #expect(server.requests.value.map(\.target) == Array(repeating: "/a?x=%C3%BC", count: 3) + ["/b", "/b", "/b"])
    }

    @Test func `a request can have a serializer of its own`() async throws {
        let recorder = Recorder()
        let session = try session(recorder, FormSerializer())
        let json = RequestOptions(requestSerializer: JSONSerializer(options: .init(booleans: .numeric)))
        _ = try await session.post("a", parameters: ["b": true]).response()
        _ = try await session.post("a", parameters: ["b": true], options: json).response()
        _ = try await session.post("a", parameters: ["b": true], body: .text(""), options: json).response()
        _ = try await session.get("a", options: .init(requestSerializer: SigningSerializer())).response()
        let sent = recorder.requests.withLock { $0 }
        #expect(sent.prefix(2).map { String(decoding: $0.body ?? [], as: UTF8.self) } == ["b=true", #"{"b":true}"#])
        #expect(sent[2].head.path == "/a?b=1")
        #expect(sent[3].head.headerFields[Self.signature] != nil)
    }

    @Test func `a serializer can't add a body to a request that streams one`() async throws {
        struct Adding: RequestSerializer {
            func serialize(
                _ request: SerializedRequest,
                parameters: Parameters?
            ) throws(RequestSerializationError) -> SerializedRequest {
                .init(head: request.head, body: [1])
            }
        }
        let session = try session(Recorder(), Adding())
        let error = await #expect(throws: HTTPError.self) {
            try await session.post("", body: .multipart([])).response()
        }
        #expect(error?.code == .requestSerializationFailed)
        #expect(error?.reason == "the serializer made a body for a request that has a streamed one")
        #expect(try await session.get("").response().status == 200)
    }

    @Test(arguments: ["a b", "é", "a\r\nHost: x", "\0"])
    func `a serializer can't write bytes into the target that a URL does not have`(query: String) async throws {
        let session = try session(Recorder(), FormSerializer { _ throws(RequestSerializationError) in query })
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", parameters: ["x": 1]).response()
        }
        #expect(error?.code == .requestSerializationFailed && error?.processing == .neverSent)
        #expect(error?.reason.hasSuffix("percent-encode the rest") == true)
    }

    @Test func `the session's character set applies to queries, forms and parts`() async throws {
        let recorder = Recorder()
        let session = try session(recorder, FormSerializer(options: .init(characterSet: "iso-8859-1")))
        _ = try await session.get("a", parameters: ["q": "é"]).response()
        _ = try await session.post("a", parameters: ["q": "é"]).response()
        _ = try await session.post("a", parameters: ["q": "é"], body: .multipart([])).response()
        let sent = recorder.requests.withLock { $0 }
        #expect(sent[0].head.path == "/a?q=%E9" && sent[1].body == Array("q=%E9".utf8))
        #expect(sent[2].body?.contains(0xE9) == true && sent[2].body?.contains(0xC3) == false)
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("a", parameters: ["q": "€"]).response()
        }
        #expect(error?.code == .requestSerializationFailed)
    }

    // MARK: Responses

    private static func json(_ status: Int, _ type: String?, _ body: String) -> Recorder {
        .init { _ in
            var head = HTTPResponse(status: .init(code: status))
            head.headerFields[.contentType] = type
            return .init(head: head, body: Array(body.utf8))
        }
    }

    private struct Event: Decodable, Equatable, Sendable { var startTime: Date }

    @Test func `the session's settings decide how responses are decoded, and a request's replace them`() async throws {
        let text = #"{"start_time":"2026-11-22T21:38:10Z"}"#
        var settings = ResponseSerializerSettings(expectation: .jsonOrText) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        settings.expectation.statuses.insert(404)
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(responseSerializer: settings, transport: Self.json(404, "text/plain", text))
        )
        let event = Event(startTime: Date(timeIntervalSince1970: 1_795_383_490))
        #expect(try await session.get("").decoded(Event.self) == event)
        #expect(try await session.get("").json()["start_time"]?.string == "2026-11-22T21:38:10Z")
        #expect(try await session.get("").string() == text)
        #expect(try await session.get("").bytes() == Array(text.utf8))
        let result = await withCheckedContinuation { continuation in
            session.get("").decoded(Event.self) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == event)
        let strict = RequestOptions(responseSerializer: .init(expectation: .init(statuses: [404], mediaTypes: ["a/b"])))
        let type = await #expect(throws: HTTPError.self) { try await session.get("", options: strict).json() }
        #expect(type?.code == .unacceptableContentType)
        #expect(try await session.get("", options: strict).string() == text)
        let status = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(responseSerializer: .init())).bytes()
        }
        #expect(status?.code == .unacceptableStatus)
    }

    @Test func `nulls are removed by option`() async throws {
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(
                responseSerializer: .init(removesNulls: true),
                transport: Self.json(200, "application/json", #"{"a":null,"b":[null,1]}"#)
            )
        )
        #expect(try await session.get("").json() == ["b": [1]])
    }

    @Test(arguments: [204, 205, 200]) func `an empty body is nil or an empty response`(status: Int) async throws {
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(transport: Self.json(status, nil, ""))
        )
        #expect(try await session.get("").decoded(Event?.self) == nil)
        #expect(try await session.delete("").decoded(EmptyResponse.self) == EmptyResponse())
        let error = await #expect(throws: HTTPError.self) { try await session.get("").decoded(Event.self) }
        #expect(error?.code == .responseSerializationFailed)
    }

    @Test func `an error has the response's body up to the session's limit`() async throws {
        let body = String(repeating: "x", count: 1 << 20) + "y"
        let transport = Self.json(500, "text/plain", body)
        for limit in [nil, 10, 0, -1, 2 << 20] as [Int?] {
            var configuration = HTTPConfiguration(transport: transport)
            if let limit { configuration.maximumErrorBodySize = limit }
            let session = try HTTPSession(baseURL: "http://example.com", configuration: configuration)
            let expected = Array(body.utf8.prefix(max(0, limit ?? 1 << 20)))
            let value = await #expect(throws: HTTPError.self) { try await session.get("").string() }
            #expect(value?.body == expected)
            let folder = try LabFolder()
            let file = await #expect(throws: HTTPError.self) {
                try await session.download("", to: folder.path + "/f").response()
            }
            #expect(file?.body == expected && file?.response?.status == .internalServerError)
        }
    }
}
