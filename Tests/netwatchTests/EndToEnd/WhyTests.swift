import CommandLineLab
import NetworkLab
import Testing

/// One sentence says why a machine has no network, for the real kernel's state.
@Suite(.timeLimit(.minutes(5))) struct WhyTests {
    /// The beginning of what `explain` prints, up to the fix.
    private func head(of machine: BrokenMachine) throws -> [String] {
        let tool = try machine.tool("explain")
        let lines = try tool.output.rest().split(separator: "\n").map(String.init)
        #expect(try tool.exitCode() == 1)
        #expect(try tool.errors.rest() == "")
        return Array(lines.prefix(3))
    }

    @Test(arguments: BrokenSetup.allCases)
    func `the sentence and the fix`(setup: BrokenSetup) throws {
        let lines = ["notReachable: no path", "  why: \(setup.text)", "    fix: \(setup.fix)"]
        var seen = try head(of: BrokenMachine(setup))
        // On a machine as slow as that, the kernel has removed the expired route before it was looked at.
        while setup == .expiredAdvertisement, seen[1].contains("there is no default route") {
            seen = try head(of: BrokenMachine(setup))
        }
        #expect(seen == lines)
    }

    /// As they stand, with nothing added by hand.
    @Test(arguments: [
        BrokenSetup.unreachableOnTop, .deadPreferredLink, .sourceRule, .ruleThatRefuses, .half,
    ])
    func `the fix works`(setup: BrokenSetup) throws {
        let machine = try BrokenMachine(setup)
        try machine.carryOut(setup.fix)
        let tool = try machine.tool("explain")
        let text = try tool.output.rest()
        #expect(try tool.exitCode() == 0)
        #expect(!text.contains("\n  why: ") && !text.contains("\n  but: "))
    }

    @Test func `a dead preferred link that IPv6 covers`() throws {
        let machine = try BrokenMachine(.deadPreferredLink)
        try machine.lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try machine.lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", metric: 1024)
        let tool = try machine.tool("explain")
        let lines = try tool.output.rest().split(separator: "\n").map(String.init)
        #expect(try tool.exitCode() == 0)
        let setup = BrokenSetup.deadPreferredLink
        #expect(lines[1...2] == ["  but: IPv4 does not work: \(setup.text)", "    fix: \(setup.fix)"])
    }
}
