import Crypto
import HTTPLab
import Locking
import NetworkLab
import Testing

/// The programs under Examples that extend the client.
@Suite(.timeLimit(.minutes(5))) struct ClientExamplesTests {
    @Test func `the signing program signs method, path and body`() throws {
        let server = try AnsweringServer { _ in [.response("stored")] }
        let outcome = try LabProcess.run(BuiltProducts.path(of: "SigningRequests"), ["\(server.url)/v1"])
        #expect(outcome.output == "200\n", "\(outcome)")
        let request = try #require(server.requests.value.first)
        let signed = Array("POST /v1/readings\n".utf8) + request.body
        let key = SymmetricKey(data: Array("shared secret".utf8))
        let digits = HMAC<SHA256>.authenticationCode(for: signed, using: key).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        #expect(request.body.isEmpty == false)
        #expect(request["Authorization"] == "HMAC \(digits.joined())")
    }

    @Test func `the program that follows events continues after the last one, until the server ends the stream`()
        throws
    {
        let server = try AnsweringServer { request in
            let fields = ["Content-Type: text/event-stream"]
            return switch request["Last-Event-ID"] {
            case nil: [.response("retry:1\nid:1\ndata:a\n\n", headers: fields)]
            case "1": [.response("retry:1\nid:2\nevent:add\ndata:b\n\n", headers: fields)]
            default: [.response(status: "204 No Content")]
            }
        }
        let program = BuiltProducts.path(of: "FollowingEvents")
        let outcome = try LabProcess.run(program, ["\(server.url)/v1"])
        #expect(outcome.output == "1 message a\n2 add b\nthe server has ended the stream\n", "\(outcome)")
        #expect(server.requests.value.map { $0["Last-Event-ID"] } == [nil, "1", "2"])
        #expect(server.requests.value.allSatisfy { $0.target == "/v1/stream" })
        let rest = try LabProcess.run(program, ["\(server.url)/v1", "1"])
        #expect(rest.output.hasPrefix("2 add b\n"), "\(rest)")
    }

    @Test func `the program with a WebSocket exchanges messages`() throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                try connection.acceptWebSocket()
                for _ in 0..<2 { try connection.send(.init(1, try connection.readFrame().payload)) }
                _ = try connection.readFrame()
                try connection.send(.close(1000))
            }
        ])
        let program = BuiltProducts.path(of: "ExchangingMessages")
        let outcome = try LabProcess.run(program, ["ws://127.0.0.1:\(server.port)/v1", "hello", "é"])
        #expect(outcome.output == "hello\né\n", "\(outcome)")
        #expect(server.connections.first?.requests.first?.head.hasPrefix("GET /v1/feed ") == true)
    }

    private static func json(_ text: String, status: String = "200 OK") -> [ServerStep] {
        [.response(text, status: status, headers: ["Content-Type: application/json"])]
    }

    @Test func `the port of a program for AFNetworking does what the original does`() throws {
        let server = try AnsweringServer { request in
            switch request.path {
            case "/v1/stations":
                let text = #"{"stations":[{"name":"Uetliberg","note":null},{"name":"Hafen"}]}"#
                return [.response(text, headers: ["Content-Type: text/plain"])]
            case "/v1/readings": return Self.json(#"{"reason":"rain can't be negative"}"#, status: "422 Unprocessable")
            case "/v1/pictures": return Self.json(#"{"id":7}"#)
            default: return [.response("a,b")]
            }
        }
        let folder = try LabFolder()
        let picture = try folder.write("picture.png", "PNG")
        let arguments = ["weather", "\(server.url)/v1", picture, folder.path + "/2025.csv"]
        let outcome = try LabProcess.run(BuiltProducts.path(of: "PortedPrograms"), arguments)
        #expect(outcome.code == 0, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("network:") && !$0.hasPrefix("sent") }
        #expect(
            lines == [
                "station Uetliberg", "station Hafen", "refused: rain can't be negative", "picture 7",
                "archive \(folder.path)/2025.csv",
            ]
        )
        let requests = server.requests.value
        #expect(requests.allSatisfy { $0["Authorization"] == "Bearer secret" })
        #expect(
            requests.map(\.target) == [
                "/v1/stations?kinds%5B%5D=rain&kinds%5B%5D=wind&limit=2&near=Z%C3%BCrich", "/v1/readings",
                "/v1/pictures",
                "/v1/archive/2025.csv",
            ]
        )
        #expect(requests[1].body == Array("rain=-1&station=Z%C3%BCrich".utf8))
        let form = String(decoding: requests[2].body, as: UTF8.self)
        #expect(form.contains("name=\"station\"\r\n\r\nZürich\r\n"))
        #expect(form.contains("filename=\"picture.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n"))
    }

    @Test func `the port of a program for Alamofire does what the original does`() throws {
        let photo = #"{"id":3,"title":"Lake","taken_at":"2026-11-22T21:38:10Z"}"#
        let failed = Lock<Set<String>>([])
        let server = try AnsweringServer { request in
            switch (request.method, request.path) {
            case ("GET", "/v1/photos") where request.target.contains("album=none"):
                return Self.json(#"{"reason":"no such album"}"#, status: "404 Not Found")
            case ("GET", "/v1/photos"): return Self.json("[\(photo)]")
            case ("PUT", _) where failed.withLock({ $0.insert(request.target).inserted }):
                return Self.json("", status: "503 Service Unavailable")
            case ("DELETE", _): return [.response(status: "204 No Content")]
            case ("GET", _): return [.response("JPEG")]
            default: return Self.json(photo)
            }
        }
        let folder = try LabFolder()
        let picture = try folder.write("new.jpeg", "NEW")
        let arguments = ["photos", "\(server.url)/v1", picture, folder.path]
        let outcome = try LabProcess.run(BuiltProducts.path(of: "PortedPrograms"), arguments)
        #expect(outcome.code == 0, "\(outcome)")
        for line in [
            "Lake 2026-11-22T21:38:10Z", "3.jpeg", #"404 {"reason":"no such album"}"#,
            "is unusable: unacceptableStatus", "PUT /v1/photos/3 200 attempts: 2",
            "DELETE /v1/photos/3 204 attempts: 1",
        ] { #expect(outcome.output.contains(line), "\(line): \(outcome)") }
        let requests = server.requests.value
        #expect(requests.allSatisfy { $0["Authorization"] == "Bearer secret" })
        let targets = requests.map(\.target).prefix(2)
        #expect(
            targets == ["/v1/photos?album=none&page=1", "/v1/photos?album=Alps&page=1&tags%5B%5D=snow&tags%5B%5D=lake"]
        )
        #expect(requests.first { $0.method == "PUT" }?.body == Array(#"{"title":"Säntis"}"#.utf8))
        #expect(requests.filter { $0.method == "PUT" }.count == 2)
        let form = requests.first { $0.method == "POST" }.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
        #expect(form.contains("name=\"title\"\r\n\r\nNew\r\n") && form.contains("filename=\"new.jpeg\""))
    }

    @Test func `the program with a stage counts the bytes of each host`() throws {
        let server = try AnsweringServer { _ in [.response("12345")] }
        let other = "http://localhost:\(server.port)"
        let program = BuiltProducts.path(of: "CountingBytes")
        let outcome = try LabProcess.run(program, ["\(server.url)/a", "\(other)/b", "\(server.url)/c"])
        let counts = ["127.0.0.1: 5", "127.0.0.1: 5, localhost: 5", "127.0.0.1: 10, localhost: 5"]
        #expect(outcome.output == counts.map { "\($0)\n" }.joined(), "\(outcome)")
    }

    @Test func `the program with pipes sends requests over one pair of them`() throws {
        let outcome = try LabProcess.run(BuiltProducts.path(of: "PipeConnection"), [])
        #expect(outcome.output == "GET /first HTTP/1.1\nGET /second HTTP/1.1\n", "\(outcome)")
    }
}
