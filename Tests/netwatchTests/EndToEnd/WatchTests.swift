import CommandLineLab
import Glibc
import NetworkLab
import Testing

@Suite struct WatchTests {
    @Test func `lines are printed without a terminal`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try ToolProcess(["watch"] + Uplinks.kinds, in: uplinks.lab)
        let stamp = #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d "#
        let first = try #require(try tool.output.line()).replacing(Regex(stamp), with: "")
        let text = "wifi wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600 [monitor.initial]"
        #expect(first == text)
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        let second = try #require(try tool.output.line()).replacing(Regex(stamp), with: "")
        #expect(second == "notReachable no path [route.removed, path.noRoute]")
        tool.send(SIGINT)
        #expect(try tool.output.line() == nil)
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends it with 0`(signal: Int32) throws {
        let tool = try Uplinks().tool("watch", "--json")
        _ = try tool.output.line()
        tool.send(signal)
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a closed pipe ends it with 0, without another change`() throws {
        let pipe = try Pipe()
        let tool = try Uplinks().tool("watch", stdout: .descriptor(pipe.writer))
        close(pipe.writer)
        let reader = LineReader(pipe.reader)
        _ = try reader.line()
        reader.end()
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a full disk is an error`() throws {
        let tool = try Uplinks().tool("watch", stdout: .file("/dev/full"))
        #expect(try tool.exitCode() == 74)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: can't write stdout: No space left on device"))
        #expect(errors.filter(\.isNewline) == "\n")
    }

    @Test func `a settle time delays changes, but not the first line`() throws {
        // A slow machine takes longer than a short time for the changes, of which the first is then one by itself.
        let isShown = try [50, 1_000, 20_000].contains { try settles(within: $0) }
        #expect(isShown)
    }

    /// Makes changes that cancel each other out; returns false if they took longer than the settle time.
    private func settles(within milliseconds: Int) throws -> Bool {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("watch", "--json", "--settle", "\(milliseconds)ms")
        let story = Story(tool.output)
        try story.expect(.none.first)
        let start = ContinuousClock.now
        try uplinks.connectWiFi()
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try uplinks.connectCellular()
        guard ContinuousClock.now - start < .milliseconds(milliseconds) else { return false }
        try story.expect(.path("wifi", "wwan0"))
        tool.send(SIGINT)
        try story.expectEnd()
        return true
    }

    @Test func `another network namespace is monitored by its path`() throws {
        let elsewhere = try Uplinks()
        try elsewhere.connectCellular()
        let tool = try ToolProcess(["--netns", elsewhere.lab.path, "--json"] + Uplinks.kinds, in: LabNamespace())
        let story = Story(tool.output)
        try story.expect(.path("cellular", "wwan0").first)
        try elsewhere.connectWiFi()
        try story.expect(.path("wifi", "wlan0"))
        tool.send(SIGINT)
        try story.expectEnd()
    }
}
