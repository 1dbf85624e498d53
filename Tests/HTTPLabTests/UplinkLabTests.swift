import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore
import Testing

struct UplinkLabTests {
    @Test(arguments: Outage.allCases)
    func `a connection outlasts a link that goes away and comes back`(outage: Outage) async throws {
        let lab = try UplinkLab()
        let server = try JournalServer(in: lab)
        let client = try lab.machine.run { try RawClient(server.url) }
        #expect(try client.answer(to: "GET /before") == "done")
        try lab.begin(outage)
        #expect(lab.canReachWorld == false)
        try lab.end(outage)
        #expect(lab.canReachWorld)
        #expect(try client.answer(to: "PUT /after", headers: "Idempotency-Key: k 1\r\n", body: "abc") == "done")
        let journal = server.journal.value
        #expect(journal.map(\.method) == ["GET", "PUT"])
        #expect(journal.map(\.target) == ["/before", "/after"])
        #expect(journal.map(\.key) == [nil, "k 1"])
        #expect(journal.map(\.connection) == [0, 0])
        #expect(journal.last?.body == Array("abc".utf8))
        try await server.stop()
    }

    @Test func `what was processed is written down though nobody gets its answer`() async throws {
        let lab = try UplinkLab()
        let isAway = try ServerLatch()
        let server = try JournalServer(in: lab) { _ in [.await(isAway), .response("done")] }
        let client = try lab.machine.run { try RawClient(server.url) }
        try client.send("POST /once HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi")
        try await server.journal.wait(for: "the request") { $0.count == 1 }
        try lab.begin(.linkDown)
        isAway.open()
        try await server.stop()
        #expect(server.journal.value.map(\.target) == ["/once"])
    }
}

extension UplinkLab {
    /// Whether the machine's kernel would send a packet to the world, and the link would carry it.
    fileprivate var canReachWorld: Bool {
        guard let link = try? machine.rtnl.link(Self.interface), link.flags.contains(.lowerUp) else { return false }
        return (try? machine.rtnl.lookup("198.51.100.1")) != nil
    }
}

extension RawClient {
    /// Connects to a server in the world of an ``UplinkLab``.
    fileprivate convenience init(_ url: String) throws {
        let port = url.split(separator: ":").last.flatMap { UInt16($0.dropLast()) } ?? 0
        try self.init(port: port, octets: [192, 0, 2, 1])
    }

    /// Sends a request and reads its answer's four bytes.
    fileprivate func answer(to line: String, headers: String = "", body: String = "") throws -> String {
        try send("\(line) HTTP/1.1\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return String(try read(until: "\r\n\r\ndone").suffix(4))
    }
}
