import CommandLineLab
import EventCore
import EventServer
import Glibc
import NIOCore
import NetworkLab
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventRequestTests {
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
        ("GET / HTTP/1.1\r\n\r\n", 404, "the routes are"), ("PUT /v1/state HTTP/1.1\r\n\r\n", 405, "GET or HEAD"),
        ("GET /v1/state?after=x HTTP/1.1\r\n\r\n", 400, "such as 00f3a2b1c4d5e6f7.42"),
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
