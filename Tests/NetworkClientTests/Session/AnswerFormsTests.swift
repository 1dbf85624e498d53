import HTTPLab
import NetworkClient
import Testing

/// The forms that an answer can have by RFC 9112, 6.3, and what follows for the connection.
@Suite(.timeLimit(.minutes(10)))
struct AnswerFormsTests {
    struct Form: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.get
        var answer: String
        var body = ""
        var status = 200
        /// Whether the connection can serve the next request.
        var isKept = true
    }

    static let forms = [
        Form(testDescription: "a length", answer: "200 OK\r\nContent-Length: 2\r\n\r\nhi", body: "hi"),
        Form(testDescription: "an empty body", answer: "200 OK\r\nContent-Length: 0\r\n\r\n"),
        Form(
            testDescription: "chunks with an extension and trailers",
            answer: "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nh\r\n1\r\ni\r\n0\r\nX-Sum: 7\r\n\r\n",
            body: "hi"
        ),
        Form(
            testDescription: "the connection's end",
            answer: "200 OK\r\nConnection: close\r\n\r\nuntil the end",
            body: "until the end",
            isKept: false
        ),
        Form(
            testDescription: "HTTP/1.0's connection, closed",
            answer: "1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi",
            isKept: false
        ),
        Form(
            testDescription: "HTTP/1.0's connection, kept",
            answer: "1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
        Form(testDescription: "no content", answer: "204 No Content\r\n\r\n", status: 204),
        Form(
            testDescription: "not modified, with the length that it would have",
            answer: "304 Not Modified\r\nContent-Length: 100\r\n\r\n",
            status: 304
        ),
        Form(testDescription: "a head alone", method: .head, answer: "200 OK\r\nContent-Length: 100\r\n\r\n"),
        Form(
            testDescription: "a compressed head alone",
            method: .head,
            answer: "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n"
        ),
        Form(
            testDescription: "hints before it",
            answer: "103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
        Form(
            testDescription: "a leave that was not asked for",
            answer: "100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            body: "hi"
        ),
    ]

    @Test(arguments: forms)
    func `each is read to its end, no further`(form: Form) async throws {
        let text = form.answer.hasPrefix("1.0 ") ? "HTTP/\(form.answer)" : "HTTP/1.1 \(form.answer)"
        let server = try ScriptedServer { number in
            let first: [ServerStep] = [.readRequest, .send(text)]
            let next: [ServerStep] = [.readRequest, .answer("next"), .readToEnd]
            return number > 0 ? next : first + (form.isKept ? next : [])
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let response = try await session.request(form.method, "").response()
        #expect(response.status == form.status)
        #expect(String(decoding: response.bytes, as: UTF8.self) == form.body)
        #expect(try await session.get("").string() == "next")
        #expect(server.connections.count == (form.isKept ? 1 : 2))
    }
}
