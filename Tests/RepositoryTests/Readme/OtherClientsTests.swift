import NetworkLab
import Testing

/// The page about the gate for other clients and its program.
@Suite(.timeLimit(.minutes(5))) struct OtherClientsTests {
    @Test func `the program of the page is the one under Examples`() throws {
        let page = try Repository.read("docs/other-clients.md")
        let program = try Repository.read("Examples/OtherClients/main.swift")
        #expect(page.contains("```swift\n\(program)```\n"))
    }

    @Test func `without a network, localhost is allowed and another host times out with the reason`() throws {
        let lab = try LabNamespace()
        let program = BuiltProducts.path(of: "OtherClients")
        let near = try lab.run { try LabProcess.run(program, ["http://127.0.0.1:8080/"]) }
        #expect(near.output == "connect to 127.0.0.1 through any interface\n")
        let far = try lab.run { try LabProcess.run(program, ["http://203.0.113.7/", "0"]) }
        #expect(far.output.hasPrefix("cannot connect: waited 0.0 seconds for "))
    }

    @Test func `a pass names the interface that meets the requirement`() throws {
        let uplinks = try LabUplinks()
        let program = BuiltProducts.path(of: "OtherClients")
        let outcome = try uplinks.home.run { try LabProcess.run(program, ["http://203.0.113.7/"]) }
        #expect(outcome.output == "connect to 203.0.113.7 through wlan0\n", "\(outcome)")
    }
}
