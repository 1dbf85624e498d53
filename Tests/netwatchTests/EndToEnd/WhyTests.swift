import CommandLineLab
import NetworkLab
import Testing

/// The one-sentence diagnosis of a machine without a network, on the real kernel.
@Suite(.timeLimit(.minutes(5))) struct WhyTests {
    /// The beginning of the output of `explain`, up to the fix.
    private func head(of machine: BrokenMachine) throws -> [String] {
        let tool = try machine.tool("explain", "--timeout", "100s")
        let lines = try tool.output.rest().split(separator: "\n").map(String.init)
        #expect(try tool.exitCode() == 1)
        #expect(try tool.errors.rest() == "")
        return Array(lines.prefix(3))
    }

    @Test(arguments: BrokenSetup.allCases)
    func `a fault is diagnosed in one sentence with its fix`(setup: BrokenSetup) throws {
        let lines = ["notReachable: no path", "  why: \(setup.text)", "    fix: \(setup.fix)"]
        var seen = try head(of: BrokenMachine(setup))
        // On a very slow machine the kernel removes the expired route before it is examined.
        while setup == .expiredAdvertisement, seen[1].contains("there is no default route") {
            seen = try head(of: BrokenMachine(setup))
        }
        #expect(seen == lines)
    }

    /// Runs the fixes as they are printed.
    @Test(arguments: [
        BrokenSetup.unreachableOnTop, .deadPreferredLink, .sourceRule, .ruleThatRefuses, .half,
    ])
    func `the fix works`(setup: BrokenSetup) throws {
        let machine = try BrokenMachine(setup)
        try machine.carryOut(setup.fix)
        let tool = try machine.tool("explain", "--timeout", "100s")
        let text = try tool.output.rest()
        #expect(try tool.exitCode() == 0)
        #expect(!text.contains("\n  why: ") && !text.contains("\n  but: "))
    }

    @Test func `a dead preferred link is explained even if IPv6 works`() throws {
        let machine = try BrokenMachine(.deadPreferredLink)
        try machine.lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try machine.lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", metric: 1024)
        let tool = try machine.tool("explain", "--timeout", "100s")
        let lines = try tool.output.rest().split(separator: "\n").map(String.init)
        #expect(try tool.exitCode() == 0)
        let setup = BrokenSetup.deadPreferredLink
        #expect(lines[1...2] == ["  but: IPv4 does not work: \(setup.text)", "    fix: \(setup.fix)"])
    }
}
