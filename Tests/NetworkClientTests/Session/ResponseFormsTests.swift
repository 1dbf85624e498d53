import HTTPLab
import NetworkClient
import Testing

/// The forms of a response (RFC 9112, 6.3), and the reuse of the connection after each.
@Suite(.timeLimit(.minutes(10)))
struct ResponseFormsTests {
    struct Form: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.get
        var response: String
        var body = ""
        var status = 200
        /// Whether the connection can serve the next request.
        var isKept = true
    }

    static let forms = [
        Form(testDescription: "a length", response: "200 OK\r\nContent-Length: 2\r\n\r\nhi", body: "hi"),
        Form(testDescription: "an empty body", response: "200 OK\r\nContent-Length: 0\r\n\r\n"),
        Form(
            testDescription: "chunks with an extension and trailers",
            response: "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nh\r\n1\r\ni\r\n0\r\nX-Sum: 7\r\n\r\n",
            body: "hi"
        ),
        Form(
            testDescription: "the connection's end",
            response: "200 OK\r\nConnection: close\r\n\r\nuntil the end",
            body: "until the end",
            isKept: false
        ),
        Form(
            testDescription: "HTTP/1.0's connection, closed",
            response: "1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi",
            isKept: false
        ),
        Form(
            testDescription: "HTTP/1.0's connection, kept",
            response: "1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
        Form(
            testDescription: "a length with white space around it",
            response: "200 OK\r\nContent-Length: \t 2 \t \r\n\r\nhi",
            body: "hi"
        ),
        Form(
            testDescription: "chunks announced with white space around",
            response: "200 OK\r\nTransfer-Encoding:\tChunked\t\r\n\r\n2 \r\nhi\r\n0\r\n\r\n",
            body: "hi"
        ),
        Form(
            testDescription: "chunks announced in a list with empty members",
            response: "200 OK\r\nTransfer-Encoding: ,\r\nTransfer-Encoding: chunked ,\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            body: "hi"
        ),
        Form(
            testDescription: "a folded length",
            response: "200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi",
            body: "hi"
        ),
        Form(
            testDescription: "chunks in HTTP/1.0",
            response: "1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            body: "hi",
            isKept: false
        ),
        Form(testDescription: "no content", response: "204 No Content\r\n\r\n", status: 204),
        Form(
            testDescription: "not modified, with the length that it would have",
            response: "304 Not Modified\r\nContent-Length: 100\r\n\r\n",
            status: 304
        ),
        Form(testDescription: "a head alone", method: .head, response: "200 OK\r\nContent-Length: 100\r\n\r\n"),
        Form(
            testDescription: "a compressed head alone",
            method: .head,
            response: "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n"
        ),
        Form(
            testDescription: "hints before it",
            response: "103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
        Form(
            testDescription: "a leave that was not asked for",
            response: "100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
    ]

    @Test(arguments: forms)
    func `each is read to its end, no further`(form: Form) async throws {
        let text = form.response.hasPrefix("1.0 ") ? "HTTP/\(form.response)" : "HTTP/1.1 \(form.response)"
        let server = try ScriptedServer { number in
            let first: [ServerStep] = [.readRequest, .send(text)]
            let next: [ServerStep] = [.readRequest, .response("next"), .readToEnd]
            return number > 0 ? next : first + (form.isKept ? next : [])
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let response = try await session.request(form.method, "").response()
        #expect(response.status == form.status)
        #expect(String(decoding: response.bytes, as: UTF8.self) == form.body)
        #expect(try await session.get("").string() == "next")
        #expect(server.connections.count == (form.isKept ? 1 : 2))
    }

    private func head(_ fields: String, maximumHeadSize: Int = 256 << 10) async throws -> DataResponse {
        let response = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n"
        let server = try ScriptedServer(always: [.readRequest, .send(response), .readToEnd])
        var configuration = HTTPConfiguration.lasting
        configuration.maximumHeadSize = maximumHeadSize
        return try await HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
            .get("").response()
    }

    @Test func `a folded field is one value`() async throws {
        let fields = "X-A: one\r\n two\r\n\t three \r\n \r\nX-B:\r\n four\r\n"
        let response = try await head(fields)
        #expect(response["X-A"] == ["one two three"])
        #expect(response["X-B"] == ["four"])
    }

    @Test func `the head's limit is its size, whatever fields that is made of`() async throws {
        #expect(try await head(String(repeating: "X-A: b\r\n", count: 20_000))["X-A"].count == 20_000)
        let long = String(repeating: "a", count: 200_000)
        #expect(try await head("X-A: \(long)\r\n")["X-A"] == [long])
    }

    @Test func `the head's limit counts every byte of it`() async throws {
        let size = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 0\r\n\r\n".utf8.count
        #expect(try await head("X-A: b\r\n", maximumHeadSize: size)["X-A"] == ["b"])
        let error = await #expect(throws: HTTPError.self) { try await head("X-A: b\r\n", maximumHeadSize: size - 1) }
        #expect(error?.code == .headTooLarge)
        #expect(error?.reason.contains("larger than \(size - 1) bytes") == true)
    }

    @Test func `the trailers' limit is their size, whatever fields that is made of`() async throws {
        let trailers = String(repeating: "X-A: b\r\n", count: 20_000)
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\(trailers)\r\n"
        let server = try ScriptedServer(always: [.readRequest, .send(response), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "hi")
    }
}
