import BrokerLab
import CommandLineLab
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import Testing

/// The silences of a real machine: with the event service, the forwarder, a broker and a viewer as processes.
@Suite(.blocksItsThread, .timeLimit(.minutes(20)))
struct SilenceTests {
    private let lab: FleetLab

    init() throws {
        lab = try FleetLab()
        try lab.startBroker()
        try lab.startService()
        try lab.startForwarder(["--keepalive", "12s", "--mqtt-version", "3.1.1"])
    }

    /// Starts a viewer in the broker's network, and waits until it knows the machine.
    private func viewer() throws -> LabProcess {
        let arguments = ["fleet", "mqtt://\(FleetLab.server)", "--json"]
        let viewer = try lab.network.run { try LabProcess(ToolBinary.path, arguments) }
        try viewer.waitForOutput { Self.last(in: $0)?["link"]?.string == "online" }
        return viewer
    }

    private static func last(in output: String) -> [String: JSONText]? {
        output.split(separator: "\n").compactMap { (try? JSONText(Array($0.utf8)[...]))?.members }.last
    }

    /// Waits until the viewer says that the machine is silent, for a reason that nothing says yet.
    private func waitForSilence(_ viewer: LabProcess) throws {
        let output = try viewer.waitForOutput(within: .seconds(120)) { Self.last(in: $0)?["link"]?.string == "silent" }
        #expect(Self.last(in: output)?["why"]?.string == "unknown")
    }

    /// Waits until the machine is back, and the silence named.
    private func cause(_ viewer: LabProcess) throws -> String? {
        let output = try viewer.waitForOutput(within: .seconds(400)) { output in
            let status = Self.last(in: output)
            return status?["link"]?.string == "online" && status?["why"]?.string != "unknown"
        }
        try viewer.send(SIGTERM)
        _ = try viewer.finish()
        return Self.last(in: output)?["why"]?.string
    }

    @Test func `a machine whose links are down had no path`() throws {
        let viewer = try viewer()
        try lab.waitForEvent { try lab.setLinks(up: false) }
        try waitForSilence(viewer)
        try lab.waitForEvent { try lab.setLinks(up: true) }
        #expect(try cause(viewer) == "noPath")
    }

    @Test func `a machine whose broker is not there had a path`() throws {
        let viewer = try viewer()
        // The machine's paths stand, and lead nowhere.
        try lab.network.rtnl.deleteAddress("192.0.2.1/24", on: "ap0")
        try waitForSilence(viewer)
        try lab.network.rtnl.addAddress("192.0.2.1/24", on: "ap0")
        #expect(try cause(viewer) == "brokerNotReachable")
    }

    @Test(arguments: [(false, "notRunning"), (true, "machineOff")])
    func `programs that were killed did not run, and after another boot the machine was off`(
        isAnotherBoot: Bool,
        cause: String
    ) throws {
        let viewer = try viewer()
        try lab.losePower()
        try waitForSilence(viewer)
        if isAnotherBoot { try lab.changeBoot() }
        try lab.startService()
        try lab.startForwarder(["--keepalive", "12s", "--mqtt-version", "3.1.1"])
        #expect(try self.cause(viewer) == cause)
    }
}
