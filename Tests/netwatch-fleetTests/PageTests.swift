import BrokerLab
import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// The page of `netwatch fleet --listen`.
@Suite(.blocksItsThread, .timeLimit(.minutes(5)))
struct PageTests {
    private let lab: ViewerLab
    private let viewer: LabProcess

    init() throws {
        lab = try ViewerLab()
        try lab.publish(try ReportingNode("a").messages())
        viewer = try lab.start(["--listen", "127.0.0.1:8788"])
        try viewer.waitForOutput { $0.contains("site-1/a online wifi") }
    }

    private func curl(_ path: String, _ options: [String] = []) throws -> LabProcess {
        let url = "http://127.0.0.1:8788" + path
        return try lab.lab.run { try LabProcess("/usr/bin/curl", ["-sSN", "-i"] + options + [url]) }
    }

    private func end() throws {
        try viewer.send(SIGTERM)
        #expect(try viewer.finish().code == 0)
    }

    @Test func `the stream has all machines, then each change`() throws {
        let stream = try curl("/v1/fleet/events")
        let first = try stream.waitForOutput { $0.contains("\"node\":\"a\"") }
        #expect(first.contains("HTTP/1.1 200 OK") && first.contains("Content-Type: text/event-stream"))
        let changed = try ReportingNode("a").event(2, "notReachable", time: ReportingNode.time(ago: 0))
        try lab.publish([changed] + ReportingNode("b").messages())
        try stream.waitForOutput { $0.contains("\"node\":\"b\"") && $0.contains("\"state\":\"notReachable\"") }
        try end()
        _ = try stream.finish()
    }

    @Test func `the page forbids foreign content, and the fleet is there as JSON`() throws {
        let page = try curl("/").finish().output
        #expect(page.contains("Content-Security-Policy: default-src 'none'; script-src 'nonce-"))
        #expect(page.contains("new EventSource(\"v1/fleet/events\")"))
        let fleet = try curl("/v1/fleet").finish().output
        #expect(fleet.contains("\"node\":\"a\"") && fleet.contains("\"reachable\":1"))
        #expect(try curl("/nothing").finish().output.hasPrefix("HTTP/1.1 404 "))
        #expect(try curl("/", ["-X", "POST", "-d", ""]).finish().output.hasPrefix("HTTP/1.1 405 "))
        try end()
    }

    @Test(
        arguments: [
            ("Host: evil.example", 421), ("Host: 127.0.0.1.evil.example:8788", 421), ("Host: 127.0.0.1:8789", 421),
            ("Origin: http://evil.example", 403), ("Origin: null", 403), ("Origin: http://127.0.0.1:8788", 200),
        ]
    )
    func `pages of other origins, and other names of the machine, are refused`(field: String, status: Int) throws {
        let response = try curl("/v1/fleet", ["-H", field]).finish().output
        #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response)")
        #expect(response.contains("\"node\":\"a\"") == (status == 200))
        try end()
    }
}
