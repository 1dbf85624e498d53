import CommandLineLab
import NetworkLab
import Testing

@Suite struct WaitTests {
    @Test func `a wait ends when the network is reachable`() throws {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("wait")
        try uplinks.connectWiFi()
        #expect(try tool.exitCode() == 0)
        #expect(try tool.output.rest() == "")
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a wait for a status ends with that status`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try ToolProcess(["wait", "--for", "cellular"] + Uplinks.kinds, in: uplinks.lab)
        try uplinks.connectCellular()
        try uplinks.lab.rtnl.setDown("wlan0")
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a wait for not reachable ends when the network is lost`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try uplinks.tool("wait", "--for", "notReachable", "--timeout", "100s")
        try uplinks.lab.rtnl.setDown("wlan0")
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: [["--timeout", "20ms"], ["--timeout", "0s"], ["--timeout", "20ms", "--to", "203.0.113.7"]])
    func `a wait ends at the timeout`(arguments: [String]) throws {
        let tool = try ToolProcess(["wait"] + arguments, in: LabNamespace())
        #expect(try tool.exitCode() == 75)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: the time is up") && errors.filter(\.isNewline) == "\n")
        #expect(try tool.output.rest() == "")
    }

    @Test func `the timeout's message has the state and its reason`() throws {
        let uplinks = try Uplinks()
        let state = "the state is 'notReachable': ap0 has no carrier, as its other end is down"
        let line = "netwatch: the time is up: \(state) (waited for reachable); give a longer --timeout\n"
        #expect(try uplinks.timeoutMessage(of: "wait", [], naming: state) == line)
        try uplinks.connectWiFi()
        let path = try uplinks.timeoutMessage(of: "wait", ["--for", "cellular"], naming: "wifi")
        #expect(path.contains("the time is up: the state is 'wifi': wlan0 (virtual), ipv4 192.0.2.2 via 192.0.2.1"))
    }

    @Test func `a condition that already holds needs no time`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try uplinks.tool("wait", "--timeout", "100s", "--to", "192.0.2.77")
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a wait for one destination ends with a route that is no default`() throws {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("wait", "--to", "203.0.113.7")
        try uplinks.lab.rtnl.setUp("wlan0")
        try uplinks.lab.rtnl.addAddress("192.0.2.2/24", on: "wlan0")
        try uplinks.lab.rtnl.addRoute("203.0.113.0/24", via: "192.0.2.1", on: "wlan0")
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a wait for a name ends when it is resolved and reachable`() throws {
        let uplinks = try Uplinks()
        let tool = try uplinks.tool("wait", "--to", "localhost", "--timeout", "100s")
        #expect(try tool.exitCode() == 0)
    }
}
