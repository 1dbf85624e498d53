import NetworkClientCore
import Testing

struct ConnectDialogueTests {
    private func dialogue(maximumHead: Int = 1_000) -> ConnectDialogue {
        .init(to: "example.com:443", fields: [.init("User-Agent", "test")], maximumHead: maximumHead)
    }

    /// Returns the result of a dialogue with a response, which must be the same for the whole text and byte by byte.
    private func end(_ text: String, maximumHead: Int = 1_000) -> ProxyStep {
        var whole = dialogue(maximumHead: maximumHead)
        let step = whole.receive(text.utf8)
        var split = dialogue(maximumHead: maximumHead)
        var last = ProxyStep.wait
        var rest: [UInt8] = []
        for byte in text.utf8 {
            if last == .wait { last = split.receive([byte]) } else { rest.append(byte) }
        }
        if case .open(let early) = last { last = .open(rest: early + rest) }
        #expect(last == step)
        return step
    }

    private func refusal(_ text: String, maximumHead: Int = 1_000) -> ProxyRefusal? {
        if case .refused(let refusal) = end(text, maximumHead: maximumHead) { refusal } else { nil }
    }

    @Test func `the request has the host and port`() {
        let text = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nUser-Agent: test\r\n\r\n"
        #expect(dialogue().request == Array(text.utf8))
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200\r\n\r\n", "HTTP/1.1 204 x\nA: b\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 299 OK\r\n\r\n",
    ])
    func `any 2xx opens the tunnel regardless of its length, and later bytes are the origin's`(head: String) {
        #expect(end(head) == .open(rest: []))
        #expect(end(head + "\u{16}\u{3}hello") == .open(rest: Array("\u{16}\u{3}hello".utf8)))
        #expect(end(String(head.dropLast())) == .wait)
    }

    @Test func `a refusal has its head and its body`() {
        let text = "HTTP/1.1 403 Not  for you\r\nX-A:\t b c \r\nx-a:\r\nContent-Length: 3\r\n\r\nno!more"
        let fields: [ProxyResponse.Field] = [.init("X-A", "b c"), .init("x-a", ""), .init("Content-Length", "3")]
        let response = ProxyResponse(status: 403, reason: "Not  for you", fields: fields, body: Array("no!".utf8))
        #expect(refusal(text) == .response(response))
        #expect(response.values(of: "X-a") == ["b c", ""])
    }

    @Test func `a 304 has no body`() {
        let response = ProxyResponse(status: 304, reason: "No", fields: [.init("Content-Length", "9")])
        #expect(refusal("HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n") == .response(response))
    }

    @Test func `a refusal's body without a length ends with the connection or at the limit`() {
        var one = dialogue()
        #expect(one.receive("HTTP/1.0 502 Bad\r\n\r\nsorry".utf8) == .wait)
        #expect(one.end() == .response(.init(status: 502, reason: "Bad", body: Array("sorry".utf8))))
        var long = dialogue()
        let body = [UInt8](repeating: 65, count: 10_000)
        guard case .refused(.response(let response)) = long.receive(Array("HTTP/1.0 502 Bad\r\n\r\n".utf8) + body)
        else {
            Issue.record("no refusal")
            return
        }
        #expect(response.body.count == ConnectDialogue.keptBody)
    }

    @Test func `a refusal's body may be chunked or empty`() {
        func body(_ rest: String) -> [UInt8]? {
            if case .response(let response)? = refusal("HTTP/1.1 407 Who\r\n" + rest) { response.body } else { nil }
        }
        #expect(body("Transfer-Encoding: chunked\r\n\r\n3\r\nno!\r\n0\r\n\r\n") == Array("no!".utf8))
        #expect(body("Transfer-Encoding: chunked\r\n\r\n3\r\nno!\r\nnonsense\r\n") == Array("no!".utf8))
        #expect(body("Content-Length: 0\r\n\r\n") == [])
    }

    @Test func `an unrequested switch of protocols is a refusal`() {
        #expect(refusal("HTTP/1.1 101 Switching\r\n\r\n") == .response(.init(status: 101, reason: "Switching")))
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n", "\u{5}\u{0}", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 403 No\r\nnonsense\r\n\r\n",
        String(repeating: "x", count: 2_000) + "\r\n\r\n",
    ])
    func `anything but HTTP is rejected immediately`(text: String) {
        guard case .protocolViolation? = refusal(text) else {
            Issue.record("\(text)")
            return
        }
    }

    @Test func `an endless head and endless interim responses are rejected`() {
        let field = "X: " + String(repeating: "y", count: 100) + "\r\n"
        #expect(refusal("HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 20)) == .headTooLarge(1_000))
        let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 50)
        #expect(refusal(interim + "HTTP/1.1 200 OK\r\n\r\n") == .headTooLarge(1_000))
        #expect(end("HTTP/1.1 200 OK\r\n\r\n", maximumHead: 19) == .open(rest: []))
        #expect(refusal("HTTP/1.1 200 OK\r\n\r\n", maximumHead: 18) == .headTooLarge(18))
    }
}
