import BrokerLab
import CommandLineLab
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import Testing

/// A real machine behind a captive portal that lets it through to the broker only.
@Suite(.blocksItsThread, .timeLimit(.minutes(10)))
struct PortalTests {
    private let lab: FleetLab
    private let portal: ScriptedServer

    init() throws {
        lab = try FleetLab()
        portal = try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: lab.network, port: 80) { _ in
            let login = "HTTP/1.1 302 Found\r\nLocation: http://hotel.example/login\r\nContent-Length: 0\r\n"
            return [.readRequest, .send(login + "Connection: close\r\n\r\n"), .close]
        }
        try lab.startBroker()
        try lab.startService(["--validate", "http://\(FleetLab.server)/generate_204"])
        try lab.startForwarder()
    }

    private func fleet(_ options: [String]) throws -> LabProcess {
        try lab.network.run { try LabProcess(ToolBinary.path, ["fleet", "mqtt://\(FleetLab.server)"] + options) }
    }

    private static func last(in output: String) -> [String: JSONText]? {
        output.split(separator: "\n").compactMap { (try? JSONText(Array($0.utf8)[...]))?.members }.last
    }

    @Test func `the fleet says where the portal is, and finds its machines`() throws {
        let viewer = try fleet(["--json", "--where", "validation=portal"])
        let output = try viewer.waitForOutput(within: .seconds(120)) { !$0.isEmpty }
        let machine = try #require(Self.last(in: output))
        #expect(machine["node"]?.string == "n" && machine["state"]?.string == "wifi")
        let validation = machine["validation"]?.members
        #expect(validation?["verdict"]?.string == "portal")
        #expect(validation?["loginURL"]?.string == "http://hotel.example/login")
        let table = try fleet(["--once", "--timeout", "100s"]).finish(within: .seconds(120))
        #expect(table.code == 0 && table.output.contains("portal at http://hotel.example/login"), "\(table)")
        let others = try fleet(["--once", "--timeout", "100s", "--json", "--where", "validation!=portal"])
            .finish(within: .seconds(120))
        #expect(others.output.split(separator: "\n").count == 1, "\(others)")
    }
}
