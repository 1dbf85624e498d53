import CommandLineLab
import NetworkLab
import Testing

@Suite struct StatusTests {
    @Test func `a machine without a path is not reachable`() throws {
        let tool = try Uplinks().tool("status", "--json")
        #expect(try tool.exitCode() == 1)
        let line = try EventSchema.parse(try #require(try tool.output.line()))
        #expect(line["event"] == .string("state"))
        #expect(line["status"] == .string("notReachable"))
        #expect(try tool.output.line() == nil)
    }

    @Test func `a reachable status has the sources of the kinds`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectCellular()
        let tool = try uplinks.tool("status", "--json", "--kind", "ww*=cellular")
        #expect(try tool.exitCode() == 0)
        let line = try EventSchema.parse(try #require(try tool.output.line()))
        let interface = try #require(line["path"]?["interface"])
        #expect(interface["kind"] == .string("cellular"))
        #expect(interface["by"] == .string("rule"))
        #expect(try tool.output.line() == nil)
        let other = try uplinks.tool("status", "--json")
        let otherLine = try EventSchema.parse(try #require(try other.output.line()))
        #expect(otherLine["path"]?["interface"]?["by"] == .string("infoKind"))
        #expect(otherLine["status"] == .string("wifi"))
    }

    @Test func `a terminal gets one line of text`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try uplinks.tool("status")
        let line = try #require(try tool.output.line())
        #expect(line.contains(" wifi wlan0 (virtual), ipv4 192.0.2.2 via 192.0.2.1 metric 600"))
        #expect(try tool.output.line() == nil)
        #expect(try tool.exitCode() == 0)
    }
}
