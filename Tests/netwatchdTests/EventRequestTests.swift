import CommandLineLab
import EventCore
import EventServer
import Glibc
import NIOCore
import NetworkLab
import ReachabilityCore
import Testing

@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct EventRequestTests {
    @Test func `the state has the id of its event as a tag`() throws {
        let lab = try ServerLab()
        lab.publish(3)
        let response = try lab.get("/v1/state")
        #expect(response.status == 200)
        #expect(response.fields["etag"] == "\"\(ServerLab.id(3))\"")
        #expect(response.fields["content-type"] == "application/json")
        #expect(response.body == #"{"v":1,"seq":3,"event":"state","x":""}"# + "\n")
        #expect(try lab.get("/v1/state", "If-None-Match: \"\(ServerLab.id(3))\"").status == 304)
        #expect(try lab.get("/v1/state", "If-None-Match: \"\(ServerLab.id(2))\"").status == 200)
        let head = try lab.get("/v1/state", method: "HEAD")
        #expect(head.status == 200 && head.fields["content-length"] == response.fields["content-length"])
    }

    @Test func `the state over Wi-Fi has the details of the radio`() throws {
        let lab = try ServerLab()
        lab.publish(2, carrier: .init(index: 3, name: "wlan0", kind: .wifi, kindSource: .plain))
        let client = try lab.client()
        client.request("/v1/state")
        client.request("/metrics")
        let response = try client.response()
        #expect(response.body == "{\"seq\":2,\"wifi\":{}}\n" && response.fields["etag"] == "\"\(ServerLab.id(2))\"")
        #expect(try client.response().body.hasPrefix("# HELP"))
        #expect(try lab.get("/v1/state?after=\(ServerLab.id(1))").body == response.body)
        #expect(try lab.get("/v1/state", "If-None-Match: \"\(ServerLab.id(2))\"").status == 304)
    }

    @Test func `a request for what follows the current event waits for it`() throws {
        let lab = try ServerLab()
        lab.publish(1)
        #expect(try lab.get("/v1/state?after=\(ServerLab.id(0))").status == 200)
        #expect(try lab.get("/v1/state?after=\(ServerLab.id(1))&timeout=1ms").status == 304)
        let client = try lab.client()
        client.request("/v1/state?after=\(ServerLab.id(1))&timeout=10m")
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_subscribers 1\n"))
        lab.publish(1)
        #expect(try client.response().fields["etag"] == "\"\(ServerLab.id(2))\"")
        // The connection serves the next request.
        client.request("/v1/state")
        #expect(try client.response().status == 200)
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_subscribers 0\n"))
    }

    @Test func `requests behind one that waits are served, also if they are longer together than one head`() throws {
        let lab = try ServerLab()
        lab.publish(1)
        let client = try lab.client()
        client.request("/v1/state?after=\(ServerLab.id(1))&timeout=10m")
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_subscribers 1\n"))
        let padding = String(repeating: "x", count: 1000)
        for _ in 0..<40 { client.send("GET /v1/state HTTP/1.1\r\nX-Field: \(padding)\r\n\r\n") }
        lab.publish(1)
        for _ in 0...40 { #expect(try client.response().status == 200) }
    }

    @Test func `requests that are sent together are served in order`() throws {
        let lab = try ServerLab()
        lab.publish(1)
        let client = try lab.client()
        client.send("GET /v1/state HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\n\r\nHEAD /v1/state HTTP/1.1\r\n\r\nGET /v1/st")
        #expect(try client.response().status == 200)
        #expect(try client.response().status == 404)
        #expect(try client.response(hasBody: false).status == 200)
        client.send("ate HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try client.response().status == 200)
        #expect(try client.line() == nil)
    }

    @Test(arguments: [
        ("GET /x HTTP/1.1\r\n\r\n", 404, "the routes are"), ("PUT /v1/state HTTP/1.1\r\n\r\n", 405, "GET or HEAD"),
        ("GET /v1/state?after=x HTTP/1.1\r\n\r\n", 400, "such as 00f3a2b1c4d5e6f7.42"),
        ("GET /?span=2h HTTP/1.1\r\n\r\n", 400, "span: write one of 10m, 1h, 24h, 7d"),
        ("what\r\n\r\n", 400, "METHOD TARGET"),
        ("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 400, "has a body"),
    ])
    func `errors are JSON that says what to do`(request: String, status: Int, words: String) throws {
        let lab = try ServerLab()
        let client = try lab.client()
        client.send(request)
        let response = try client.response()
        #expect(response.status == status)
        #expect(try #require(try JSONParser.parse(response.body)["error"]?.text).contains(words))
        #expect((response.fields["allow"] != nil) == (status == 405))
    }

    @Test(arguments: [("/x", 404), ("/v1/history", 404), ("/v1/paths/server.example", 504)])
    func `an error in response to HEAD has no body, and the next request is served`(
        target: String,
        status: Int
    ) throws {
        let lab = try ServerLab { $0.pathTimeout = .milliseconds(5) }
        lab.publish()
        let client = try lab.client()
        client.request(target, method: "HEAD")
        client.request("/v1/state")
        let head = try client.response(hasBody: false)
        let length = head.fields["content-length"].flatMap { Int($0) } ?? 0
        #expect(head.status == status && length > 0)
        #expect(try client.response().status == 200)
    }

    @Test func `an error after a response to HEAD has a body`() throws {
        let lab = try ServerLab()
        lab.publish()
        let client = try lab.client()
        client.request("/v1/state", method: "HEAD")
        client.send("what\r\n\r\n")
        #expect(try client.response(hasBody: false).status == 200)
        let error = try client.response()
        #expect(error.status == 400 && error.body.contains("METHOD TARGET"))
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `the response to HEAD for a stream is its head, and the next request is served`(type: String) throws {
        let lab = try ServerLab()
        lab.publish()
        let client = try lab.client()
        for target in ["/v1/events", "/v1/paths/server.example"] {
            client.request(target, "Accept: \(type)", method: "HEAD")
            let head = try client.response(hasBody: false)
            #expect(head.status == 200 && head.fields["content-type"] == type)
            #expect(head.fields["content-length"] == nil)
        }
        client.request("/v1/state")
        #expect(try client.response().status == 200)
        client.request("/v1/paths/no%20host", "Accept: \(type)", method: "HEAD")
        #expect(try client.response(hasBody: false).status == 400)
    }

    @Test func `100 MiB of headers are refused with a response, and others are served meanwhile`() throws {
        let lab = try ServerLab()
        lab.publish()
        let client = try lab.client()
        client.send("GET /v1/state HTTP/1.1\r\n")
        let block = Array(("X-Field: " + String(repeating: "x", count: 8180) + "\r\n").utf8)
        for _ in 0..<(100 << 20) / block.count where !client.send(block) { break }
        #expect(try client.response().status == 431)
        #expect(try lab.get("/v1/state").status == 200)
    }

    @Test func `a client that sends requests without reading the responses is not read from, and closed`() throws {
        let lab = try ServerLab { $0.idleTimeout = .seconds(1) }
        let client = try lab.client()
        let padding = String(repeating: "x", count: 1000)
        let request = Array("GET /metrics HTTP/1.1\r\nX-Field: \(padding)\r\n\r\n".utf8)
        // Far more than the buffers of the kernel and of the server take, in requests as well as in responses.
        var taken = 0
        while taken < 8192, client.send(request) { taken += 1 }
        #expect(taken < 8192)
        #expect(try lab.get("/metrics").status == 200)
    }

    @Test func `requests that wait for the client to read responses are served when it does`() throws {
        let lab = try ServerLab()
        lab.publish(1)
        let client = try lab.client()
        client.send(String(repeating: "GET /metrics HTTP/1.1\r\n\r\n", count: 1000))
        client.request("/v1/state")
        // Another one is served meanwhile.
        #expect(try lab.get("/metrics").status == 200)
        for _ in 0..<1000 { #expect(try client.response().body.hasPrefix("# HELP")) }
        #expect(try client.response().fields["etag"] == "\"\(ServerLab.id(1))\"")
    }

    @Test func `the page is HTML that may load nothing, with the id after which it continues`() throws {
        let lab = try ServerLab()
        lab.publish(3)
        let response = try lab.get("/?span=24h")
        #expect(response.status == 200 && response.fields["content-type"] == "text/html; charset=utf-8")
        #expect(try #require(response.fields["content-security-policy"]).hasPrefix("default-src 'none'; "))
        #expect(response.body.hasPrefix("<!doctype html>\n") && response.body.hasSuffix("</html>\n"))
        #expect(response.body.contains("data-id=\"\(ServerLab.id(3))\""))
        let client = try lab.client()
        client.request("/", method: "HEAD")
        client.request("/v1/state")
        let head = try client.response(hasBody: false)
        #expect(head.fields["content-security-policy"] != response.fields["content-security-policy"])
        #expect(try client.response().fields["etag"] == "\"\(ServerLab.id(3))\"")
        // A page is no subscriber.
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_subscribers 0\n"))
    }

    @Test func `a page whose machine is not described in time is refused`() throws {
        let lab = try ServerLab({ $0.pathTimeout = .milliseconds(5) }, isSilent: true)
        #expect(try lab.get("/").status == 504)
    }

    @Test func `a head that does not arrive in time is refused`() throws {
        let lab = try ServerLab { $0.headTimeout = .milliseconds(20) }
        let client = try lab.client()
        client.send("GET /v1/state HTTP/1.1\r\nX: ")
        #expect(try client.response().status == 408)
        #expect(try client.line() == nil)
    }

    @Test func `an idle connection is closed`() throws {
        let lab = try ServerLab { $0.idleTimeout = .milliseconds(20) }
        lab.publish()
        let client = try lab.client()
        client.request("/v1/state")
        #expect(try client.response().status == 200)
        #expect(try client.line() == nil)
    }

    @Test func `on TCP, foreign hosts and origins are refused, and chosen origins may read`() throws {
        let lab = try ServerLab()
        lab.publish()
        let namespace = try LabNamespace()
        let (descriptor, port) = try namespace.run { try Self.loopback() }
        try lab.server.listen(on: descriptor, .loopback(.init(port: port, origins: ["https://a.example"])))
        func get(_ host: String, _ origin: String? = nil) throws -> EventClient.Response {
            let client = try namespace.run { try EventClient(port: port) }
            let field = origin.map { "Origin: \($0)\r\n" } ?? ""
            client.send("GET /v1/state HTTP/1.1\r\nHost: \(host)\r\n\(field)\r\n")
            return try client.response()
        }
        #expect(try get("localhost:\(port)").status == 200)
        #expect(try get("localhost").status == 421)
        #expect(try get("localhost:\(port).attacker.example").status == 421)
        #expect(try get("127.0.0.1:\(port)", "https://attacker.example").status == 403)
        let chosen = try get("127.0.0.1:\(port)", "https://a.example")
        #expect(chosen.status == 200 && chosen.fields["access-control-allow-origin"] == "https://a.example")
        #expect(try get("127.0.0.1:\(port)").fields["access-control-allow-origin"] == nil)
    }

    /// A listening socket on 127.0.0.1, and the port that the kernel chose.
    private static func loopback() throws -> (descriptor: Int32, port: UInt16) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try systemCall("socket") { socket(AF_INET, type, 0) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try systemCall("bind") { bind(descriptor, pointer, size) }
                try systemCall("listen") { listen(descriptor, 16) }
                try systemCall("getsockname") { getsockname(descriptor, pointer, &size) }
            }
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
