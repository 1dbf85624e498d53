import HTTPLab
import NetworkClientTesting
import NetworkLab
import Reachability
import Testing

@testable import NetworkClient

/// The packets of sessions that leave a machine over its uplink, as the kernel counts them.
@Suite(.timeLimit(.minutes(5))) struct ValidationPacketTests {
    private static func session(
        _ url: String,
        _ loops: LabLoops,
        _ monitor: ReachabilityMonitor,
        validation: ScriptedMonitor?
    ) throws -> HTTPSession {
        let configuration = HTTPConfiguration(
            timeouts: .lasting,
            proxy: .direct,
            gate: .waitsForConnectivity(nil),
            validation: validation,
            validationRequirement: validation == nil ? .any : .validated,
            retry: .standard,
            connectivity: monitor
        )
        return try HTTPSession(baseURL: url, configuration, loop: loops.loop, NameResolver())
    }

    @Test(arguments: [false, true])
    func `no session sends a packet of its own, neither without validation nor on a validated path`(
        hasValidation: Bool
    ) async throws {
        let lab = try UplinkLab()
        // Neighbour discovery and router solicitations are part of no request.
        try lab.machine.setSysctl("net.ipv6.conf.\(UplinkLab.interface).disable_ipv6", to: 1)
        let monitor = try lab.machine.run { try ReachabilityMonitor() }
        try await monitor.wait(for: .reachable, timeout: .seconds(60))
        let far = try JournalServer(in: lab)
        let near = try ScriptedServer(in: lab.machine, always: [.forever([.readRequest, .response("near")])])
        let network = hasValidation ? ScriptedMonitor() : nil
        network?.validationStatus = .validated
        try await LabLoops.run(in: lab.machine) { loops in
            let session = try Self.session("http://127.0.0.1:\(near.port)", loops, monitor, validation: network)
            let before = try lab.machine.sentPackets(UplinkLab.interface)
            for number in 0..<100 { #expect(try await session.get("\(number)").string() == "near") }
            #expect(try lab.machine.sentPackets(UplinkLab.interface) == before)
            // The counter would detect the packets.
            #expect(try await session.get(far.url).string() == "done")
            #expect(try lab.machine.sentPackets(UplinkLab.interface) > before)
            #expect(far.journal.value.count == 1 && network?.checkCount ?? 0 == 0)
        }
    }
}
