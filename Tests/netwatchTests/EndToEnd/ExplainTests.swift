import CommandLineLab
import NetworkLab
import Testing

@Suite struct ExplainTests {
    @Test func `a machine without a network is explained`() throws {
        let tool = try Uplinks().tool("explain", "--timeout", "100s")
        let text = try tool.output.rest()
        let head = """
            notReachable: no path
              why: ap0 has no carrier, as its other end is down
                fix: set its other end up
              also: tower0 has no carrier, as its other end is down
                fix: set its other end up
              also: wlan0 and wwan0 are switched off (down)
                fix: 'ip link set dev wlan0 up'
            ipv4: not usable

            """
        #expect(text.hasPrefix(head))
        #expect(text.contains("path.noRoute: No route covers the whole of the public internet."))
        #expect(text.contains("fix: 'ip route add default via GATEWAY dev NAME'"))
        #expect(try tool.exitCode() == 1)
        #expect(try tool.errors.rest() == "")
    }

    /// A default route that would work comes after one that is dead.
    @Test func `a dead route that the kernel prefers is explained, and the fix works`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        try uplinks.connectCellular()
        try uplinks.lab.rtnl.setDown("ap0")
        let tool = try uplinks.tool("explain", "--timeout", "100s")
        let text = try tool.output.rest()
        let why = "  why: wlan0 has no carrier, yet the kernel prefers its route to wwan0's\n    fix: 'sysctl"
        #expect(text.contains(why))
        #expect(text.contains("via 192.0.2.1 dev wlan0 source 192.0.2.2 table main metric 600"))
        #expect(text.contains("path.noCarrier: The preferred route's interface has no carrier"))
        #expect(text.contains("'sysctl net.ipv4.conf.all.ignore_routes_with_linkdown=1 net.ipv6.conf.all."))
        #expect(try tool.exitCode() == 1)
        // The fix works.
        try uplinks.lab.setSysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", to: 1)
        let fixed = try uplinks.tool("explain", "--timeout", "100s")
        #expect(try fixed.output.rest().hasPrefix("wifi: wwan0 (virtual), ipv4 198.51.100.2"))
        #expect(try fixed.exitCode() == 0)
    }

    @Test func `the path to a host is explained, by address and by name`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        let tool = try uplinks.tool("explain", "203.0.113.7", "--timeout", "100s")
        let text = "203.0.113.7: wifi\n  the kernel's route: via 192.0.2.1 dev wlan0 source 192.0.2.2\n"
        #expect(try tool.output.rest() == text)
        #expect(try tool.exitCode() == 0)
        let other = try uplinks.tool("explain", "2001:db8::7", "--timeout", "100s")
        #expect(try other.output.rest().hasPrefix("2001:db8::7: notReachable\n  the kernel refuses: "))
        #expect(try other.exitCode() == 1)
        let named = try uplinks.tool("explain", "localhost", "--timeout", "100s")
        #expect(try named.output.rest().contains("127.0.0.1: wifi\n  the kernel's route: local dev lo"))
        #expect(try named.exitCode() == 0)
    }

    /// In a user namespace that owns no network namespace, setns(2) is refused even for the process's own.
    @Test func `a name is resolved in the tool's own namespace without privilege`() throws {
        let lab = try Uplinks().lab
        let options = ["--netns", "/proc/self/ns/net", "--timeout", "100s"]
        let words = ["--user", ToolBinary.path, "explain", "localhost"] + options
        let run = try lab.run { try LabProcess.run("/usr/bin/unshare", words) }
        #expect(run.errors == "")
        #expect(run.output.contains("127.0.0.1: wifi\n  the kernel's route: local dev lo"))
        #expect(run.code == 0)
    }

    @Test func `a name that cannot be resolved is an error`() throws {
        let tool = try Uplinks().tool("explain", "--timeout", "200ms", "no-such-host.invalid")
        #expect(try tool.exitCode() == 2)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: cannot resolve 'no-such-host.invalid': "))
        #expect(errors.filter(\.isNewline) == "\n")
        #expect(try tool.output.rest() == "")
    }

    @Test(arguments: ["http://x/", "x.example:443", "fe80::1%eth0"])
    func `an invalid host is refused`(text: String) throws {
        let tool = try Uplinks().tool("explain", text)
        #expect(try tool.exitCode() == 64)
        #expect(try tool.errors.rest().contains("leave out"))
    }
}
