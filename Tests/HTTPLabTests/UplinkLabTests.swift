import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UplinkLabTests {
    @Test(arguments: Outage.allCases)
    func `a connection survives an outage of the link`(outage: Outage) async throws {
        let lab = try UplinkLab()
        let server = try JournalServer(in: lab)
        let client = try lab.machine.run { try RawClient(server.url) }
        #expect(try client.response(to: "GET /before") == "done")
        try lab.begin(outage)
        #expect(lab.hasPath == false)
        try lab.end(outage)
        #expect(lab.hasPath)
        #expect(try client.response(to: "PUT /after", headers: "Idempotency-Key: k 1\r\n", body: "abc") == "done")
        let journal = server.journal.value
        #expect(journal.map(\.method) == ["GET", "PUT"])
        #expect(journal.map(\.target) == ["/before", "/after"])
        #expect(journal.map(\.key) == [nil, "k 1"])
        #expect(journal.map(\.connection) == [0, 0])
        #expect(journal.last?.body == Array("abc".utf8))
        try await server.stop()
    }

    @Test func `a processed request is recorded although its response is lost`() async throws {
        let lab = try UplinkLab()
        let isDown = try ServerLatch()
        let server = try JournalServer(in: lab) { _ in [.await(isDown), .response("done")] }
        let client = try lab.machine.run { try RawClient(server.url) }
        try client.send("POST /once HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi")
        try await server.journal.wait(for: "the request") { $0.count == 1 }
        try lab.begin(.linkDown)
        isDown.open()
        try await server.stop()
        #expect(server.journal.value.map(\.target) == ["/once"])
    }
}

extension UplinkLab {
    /// Whether the machine has a route to the outer network, and its link has a carrier.
    fileprivate var hasPath: Bool {
        guard let link = try? machine.rtnl.link(Self.interface), link.flags.contains(.lowerUp) else { return false }
        return (try? machine.rtnl.lookup("198.51.100.1")) != nil
    }
}

extension RawClient {
    /// Connects to a server in the outer network of an ``UplinkLab``.
    fileprivate convenience init(_ url: String) throws {
        let port = url.split(separator: ":").last.flatMap { UInt16($0.dropLast()) } ?? 0
        try self.init(port: port, octets: [192, 0, 2, 1])
    }

    /// Sends a request, and returns the four bytes of the response's body.
    fileprivate func response(to line: String, headers: String = "", body: String = "") throws -> String {
        try send("\(line) HTTP/1.1\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return String(try read(until: "\r\n\r\ndone").suffix(4))
    }
}
