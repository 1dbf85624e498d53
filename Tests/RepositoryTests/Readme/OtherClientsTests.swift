import NetworkLab
import Testing

/// The page about the gate for other clients, and its program.
@Suite(.timeLimit(.minutes(2))) struct OtherClientsTests {
    @Test func `the page's program is the one under Examples`() throws {
        let page = try Repository.read("docs/other-clients.md")
        let program = try Repository.read("Examples/OtherClients/main.swift")
        #expect(page.contains("```swift\n\(program)```\n"))
    }

    @Test func `offline, this machine is reached, and what is not is told with the reason`() throws {
        let lab = try LabNamespace()
        let program = BuiltProducts.path(of: "OtherClients")
        let near = try lab.run { try LabProcess.run(program, ["http://127.0.0.1:8080/"]) }
        #expect(near.output == "goes by any interface to 127.0.0.1\n")
        let far = try lab.run { try LabProcess.run(program, ["http://203.0.113.7/", "0"]) }
        #expect(far.output.hasPrefix("can't go: waited 0.0 seconds for "))
    }

    @Test func `where there is a path, its interface is the one to bind to`() throws {
        let uplinks = try LabUplinks()
        let program = BuiltProducts.path(of: "OtherClients")
        let outcome = try uplinks.home.run { try LabProcess.run(program, ["http://203.0.113.7/"]) }
        #expect(outcome.output == "goes by wlan0 to 203.0.113.7\n", "\(outcome)")
    }
}
