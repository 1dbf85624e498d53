import EventCore
import NetworkLab
import Testing

@Suite struct RequestTests {
    private static let id = EventID(run: 7, sequence: 3)

    private func head(_ target: String, _ fields: String..., method: String = "GET") throws -> RequestHead {
        let lines = ["\(method) \(target) HTTP/1.1"] + fields + ["", ""]
        return try .init(parsing: Array(lines.joined(separator: "\r\n").utf8))
    }

    private func refusal(_ body: () throws -> some Any) -> RequestRefusal? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? RequestRefusal
        }
    }

    @Test func `a head is read, with names in any case and spaces around values`() throws {
        let head = try head("/v1/state?x=1", "HOST:\t localhost:1 ", "Accept: a, b", "accept: c")
        #expect(head.method == "GET" && head.target == "/v1/state?x=1" && head.keepsAlive)
        #expect(head.values("host") == ["localhost:1"])
        #expect(head.list("accept") == ["a", "b", "c"])
        #expect(try self.head("/", "Connection: Keep-Alive, close").keepsAlive == false)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\n\n", "GET / HTTP/1.1\r\nA: b\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n", "GET http://x/ HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n", "\r\n\r\n",
        "G T / HTTP/1.1\r\n\r\n", "GET /\u{E4} HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "GET / HTTP/1.1\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\u{0}\r\n\r\n", "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 00\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func `a malformed head, and one with a body, is refused`(text: String) {
        #expect(refusal { try RequestHead(parsing: Array(text.utf8)) }?.status == 400)
    }

    @Test func `random bytes are refused or read, and never trap`() {
        var random = SeededGenerator(seed: 1)
        let good = Array("GET /v1/state?after=%30&x HTTP/1.1\r\nHost: localhost:1\r\nAccept: */*\r\n\r\n".utf8)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(Array("\r\n:% \u{0}".utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }
            _ = try? EventRequest(try RequestHead(parsing: bytes))
        }
    }

    @Test func `each route is read with its parameters`() throws {
        let request = { (head: RequestHead) in try EventRequest(head).resource }
        #expect(try request(head("/v1/state")) == .state(after: nil, timeout: .seconds(30)))
        #expect(
            try request(head("/v1/state?after=\(Self.id)&timeout=2m")) == .state(after: Self.id, timeout: .seconds(120))
        )
        #expect(try request(head("/v1/events")) == .events(.now, .all))
        #expect(try request(head("/v1/events?mode=latest&after=\(Self.id)")) == .events(.after(Self.id), .latest))
        #expect(try request(head("/v1/paths/2001:db8::1")) == .path(host: "2001:db8::1"))
        #expect(try request(head("/v1/paths/%5B::1%5D")) == .path(host: "[::1]"))
        #expect(try request(head("/metrics")) == .metrics)
        #expect(try EventRequest(head("/metrics", method: "HEAD")).isHeadOnly)
    }

    @Test func `Last-Event-ID counts more than the query, and one that cannot be read is unknown`() throws {
        let field = "Last-Event-ID: \(Self.id)"
        let other = EventID(run: 8, sequence: 1)
        #expect(try EventRequest(head("/v1/events?after=\(other)", field)).resource == .events(.after(Self.id), .all))
        #expect(try EventRequest(head("/v1/events", "Last-Event-ID: x")).resource == .events(.after(nil), .all))
        #expect(try EventRequest(head("/v1/events", "Last-Event-ID:")).resource == .events(.now, .all))
    }

    @Test(arguments: [
        ("/index.html", 404, "/v1/events"), ("/?span=2h", 400, "span: write one of 10m"),
        ("/v1/states", 404, "/v1/state,"), ("/v1/paths/", 404, "/v1/paths/HOST"),
        ("/v1/state?after=7", 400, "after: the '.' is missing"), ("/v1/state?timeout=5", 400, "500ms, 30s or 2m"),
        ("/v1/state?timeout=11m", 400, "10m"), ("/v1/state?timeout=-1s", 400, "whole number"),
        ("/v1/state?mode=latest", 400, "after, timeout"), ("/v1/events?mode=new", 400, "all or latest"),
        ("/v1/events?after=1&after=2", 400, "more than once"), ("/metrics?x", 400, "no parameters"),
        ("/v1/paths/%zz", 400, "hexadecimal"), ("/v1/paths/%ff", 400, "UTF-8"),
    ])
    func `a wrong target is refused with what to write`(target: String, status: Int, words: String) throws {
        let refusal = refusal { try EventRequest(try head(target)) }
        #expect(refusal?.status == status)
        #expect(try #require(refusal).message.contains(words))
    }

    @Test(arguments: ["POST", "OPTIONS", "get"])
    func `other methods are refused`(method: String) {
        #expect(refusal { try EventRequest(try head("/v1/state", method: method)) }?.status == 405)
    }

    @Test func `the form follows from the media types that the client accepts`() throws {
        #expect(try EventRequest(head("/v1/events", "Accept: */*")).form == .serverSentEvents)
        #expect(try EventRequest(head("/v1/events", "Accept: a/b, Application/X-NDJSON;q=1")).form == .lines)
        #expect(try EventRequest(head("/v1/paths/a", "Accept: text/event-stream")).form == .serverSentEvents)
        #expect(try EventRequest(head("/v1/paths/a", "Accept: */*")).form == .single)
        #expect(try EventRequest(head("/v1/state", "Accept: text/event-stream")).form == .single)
    }

    @Test(arguments: [
        (#""0000000000000007.3""#, true), (#""a", W/"0000000000000007.3""#, true), ("*", true),
        (#""0000000000000007.4""#, false), ("0000000000000007.3", false),
    ])
    func `a tag in If-None-Match is compared exactly`(field: String, isKnown: Bool) throws {
        #expect(try EventRequest(head("/v1/state", "If-None-Match: \(field)")).knows(Self.id) == isKnown)
    }
}

@Suite struct AccessRulesTests {
    private let rules = AccessRules(port: 8787, origins: ["https://grafana.example"])

    private func check(_ fields: String...) throws -> String? {
        let lines = ["GET / HTTP/1.1"] + fields + ["", ""]
        return try rules.check(RequestHead(parsing: Array(lines.joined(separator: "\r\n").utf8)))
    }

    private func status(_ fields: String...) -> Int? {
        let lines = ["GET / HTTP/1.1"] + fields + ["", ""]
        do {
            _ = try rules.check(RequestHead(parsing: Array(lines.joined(separator: "\r\n").utf8)))
            return nil
        } catch {
            return error.status
        }
    }

    @Test(arguments: ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "LOCALHOST:8787"])
    func `the names of loopback with the port are taken`(host: String) throws {
        #expect(try check("Host: \(host)") == nil)
    }

    @Test(arguments: [
        "localhost", "127.0.0.1", "localhost:878", "localhost:87870", "localhost:8787.attacker.example",
        "localhost.attacker.example:8787", "127.0.0.1.nip.io:8787", "attacker.example:8787", "localhost:8787:1",
        "127.0.0.2:8787", "::1:8787", "[::1]", "user@localhost:8787", "localhost:08787", "",
    ])
    func `any other name is refused, also one that begins like loopback's`(host: String) {
        #expect(status("Host: \(host)") == 421)
    }

    @Test func `a host that is missing or given twice is refused`() {
        #expect(status("Accept: */*") == 400)
        #expect(status("Host: localhost:8787", "Host: localhost:8787") == 400)
    }

    @Test func `the port 80 may be left out`() throws {
        let head = try RequestHead(parsing: Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        #expect(try AccessRules(port: 80).check(head) == nil)
    }

    @Test(arguments: [
        "https://attacker.example", "null", "http://localhost", "http://localhost:8787.attacker.example",
        "https://localhost:8787", "http://127.0.0.1:8787", "https://grafana.example.attacker.example",
        "https://grafana.example:444", "",
    ])
    func `a foreign origin is refused`(origin: String) {
        #expect(status("Host: localhost:8787", "Origin: \(origin)") == 403)
    }

    @Test func `the service's own pages and the chosen origins are taken`() throws {
        #expect(try check("Host: localhost:8787", "Origin: http://localhost:8787") == nil)
        let chosen = "https://grafana.example"
        #expect(try check("Host: localhost:8787", "Origin: \(chosen)") == chosen)
        #expect(status("Host: localhost:8787", "Origin: \(chosen)", "Origin: \(chosen)") == 403)
    }

    @Test(arguments: [
        ("https://grafana.example", true), ("http://localhost:3000", true), ("http://[::1]:3000", true),
        ("https://grafana.example/", false), ("grafana.example", false), ("ftp://a", false), ("https://", false),
        ("https://u@h", false), ("https://grafana.example:443", false), ("http://a:80", false), ("*", false),
        ("https://Grafana.example", false),
    ])
    func `an origin is a scheme and a host as browsers write them`(text: String, isTaken: Bool) {
        #expect((AccessRules.origin(text) != nil) == isTaken)
    }
}
