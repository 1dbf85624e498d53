import BrokerLab
import CommandLineLab
import Glibc
import HTTPLab
import MQTTCore
import NetwatchCore
import NetworkLab
import Testing

/// `netwatch fleet` that follows changes, with lines and with a store.
@Suite(.blocksItsThread, .timeLimit(.minutes(5)))
struct FollowTests {
    private let lab: ViewerLab

    init() throws { lab = try ViewerLab() }

    /// The last object of a machine in lines of JSON.
    private func last(_ name: String, in output: String) -> [String: JSONText]? {
        output.split(separator: "\n").compactMap { (try? JSONText(Array($0.utf8)[...]))?.members }
            .last { $0["node"]?.string == name }
    }

    private func end(_ viewer: LabProcess) throws -> LabProcess.Outcome {
        try viewer.send(SIGTERM)
        let outcome = try viewer.finish()
        #expect(outcome.code == 0, "\(outcome)")
        return outcome
    }

    @Test func `each change is a line, and the end is in order`() throws {
        let node = ReportingNode("a")
        try lab.publish(try node.messages())
        let viewer = try lab.start([])
        try viewer.waitForOutput { $0.contains("site-1/a online wifi through wlan0") }
        try lab.publish([try node.event(2, "notReachable", time: ReportingNode.time(ago: 1))])
        try viewer.waitForOutput { $0.contains("site-1/a online notReachable") }
        let outcome = try end(viewer)
        #expect(outcome.errors.isEmpty)
    }

    @Test func `a broker that goes and returns is said on stderr, and followed again`() throws {
        let viewer = try lab.start(["--json"])
        try lab.publish(try ReportingNode("a").messages())
        try viewer.waitForOutput { last("a", in: $0) != nil }
        try lab.stopBroker()
        try lab.startBroker()
        try lab.publish(try ReportingNode("b").messages())
        try viewer.waitForOutput { last("b", in: $0) != nil }
        let outcome = try end(viewer)
        #expect(outcome.errors.contains("netwatch: cannot follow '127.0.0.1': "), "\(outcome.errors)")
        #expect(outcome.errors.contains("netwatch: following '127.0.0.1' again\n"))
    }

    @Test func `a message that can't be read is said once, and the others are taken`() throws {
        let viewer = try lab.start(["--json"])
        var broken = ReportingNode("broken").link(at: ReportingNode.time(ago: 0))
        broken.payload = Array("{\u{1B}[31m".utf8)
        try lab.publish([broken, broken])
        try lab.publish(try ReportingNode("a").messages())
        try viewer.waitForOutput { last("a", in: $0) != nil }
        let errors = try end(viewer).errors
        #expect(errors.filter(\.isNewline) == "\n" && errors.contains("netwatch/site-1/broken/link"), "\(errors)")
        #expect(!errors.contains("\u{1B}"))
    }

    @Test func `a store remembers outages over a restart, and the broker keeps the events in between`() throws {
        let node = ReportingNode("a")
        let store = lab.folder.path + "/fleet.db"
        let times = (0...5).map { ReportingNode.time(ago: 3_000 - $0 * 500) }
        let first = try lab.start(["--json", "--store", store])
        try lab.publish([node.link(at: times[0])])
        // Only now has it subscribed.
        try first.waitForOutput { last("a", in: $0) != nil }
        try lab.publish([try node.event(1, "wifi", time: times[0])])
        try lab.publish([try node.event(2, "notReachable", time: times[1])])
        try first.waitForOutput { last("a", in: $0)?["lastState"]?.string == "notReachable" }
        _ = try end(first)
        // While no viewer runs; one event arrives twice, and one that is known again.
        let missed = try [
            (3, "wifi", 2), (4, "notReachable", 3), (4, "notReachable", 3), (2, "notReachable", 1), (5, "wifi", 4),
        ]
        .map { try node.event($0.0, $0.1, time: times[$0.2]) }
        try lab.publish(missed)
        let second = try lab.start(["--json", "--store", store])
        let output = try second.waitForOutput { last("a", in: $0)?["event"]?.string?.hasSuffix(".5") == true }
        let status = last("a", in: output)
        #expect(status?["outages"]?.wholeNumber == 2 && status?["lost"]?.wholeNumber == 0, "\(output)")
        _ = try end(second)
        let third = try lab.run(["--once", "--json", "--store", store])
        #expect(last("a", in: third.output)?["outages"]?.wholeNumber == 2, "\(third)")
        #expect(last("a", in: third.output)?["event"]?.string?.hasSuffix(".5") == true)
    }

    @Test func `a viewer that is killed loses no event that it did not store`() throws {
        let node = ReportingNode("a")
        let store = lab.folder.path + "/fleet.db"
        try lab.publish([node.link(at: ReportingNode.time(ago: 100))])
        let first = try lab.start(["--json", "--store", store])
        try first.waitForOutput { last("a", in: $0) != nil }
        let count = 400
        for number in 1...count {
            // A line is printed for another condition only.
            let state = number == count ? "cellular" : number % 2 == 0 ? "notReachable" : "wifi"
            try lab.publish([try node.event(number, state, time: ReportingNode.time(ago: count - number))])
            if number == count / 2 { try first.send(SIGKILL) }
        }
        _ = try first.finish()
        let second = try lab.start(["--json", "--store", store])
        try second.waitForOutput { last("a", in: $0)?["event"]?.string?.hasSuffix(".\(count)") == true }
        _ = try end(second)
        let outcome = try lab.run(["--once", "--json", "--store", store])
        #expect(last("a", in: outcome.output)?["lost"]?.wholeNumber == 0, "\(outcome)")
    }

    @Test(.disabled(if: LabSanitizer.isThread, "the sanitizer makes a larger file itself, when the tool starts"))
    func `a store that is too large for a limit is an error, and no signal`() throws {
        let script = #"ulimit -f 8; exec "$0" fleet mqtt://127.0.0.1 --once --store "$1""#
        let words = ["-c", script, ToolBinary.path, lab.folder.path + "/fleet.db"]
        let outcome = try lab.lab.run { try LabProcess.run("/bin/sh", words, within: .seconds(120)) }
        #expect(outcome.errors.hasPrefix("netwatch: cannot use the store '"), "\(outcome)")
    }

    @Test func `a store that another viewer uses is refused`() throws {
        let store = lab.folder.path + "/fleet.db"
        let node = ReportingNode("a")
        try lab.publish(try node.messages())
        let first = try lab.start(["--store", store])
        try first.waitForOutput { $0.contains("site-1/a") }
        let second = try lab.run(["--once", "--store", store])
        #expect(second.code == 74 && second.errors.contains("another 'netwatch fleet' uses it"), "\(second)")
        _ = try end(first)
    }
}
