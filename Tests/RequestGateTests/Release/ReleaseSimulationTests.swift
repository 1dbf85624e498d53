import NetworkLab
import RequestGate
import Testing

struct ReleaseSimulationTests {
    /// Servers that reject requests immediately, after a delay, and as late as they serve them; and one with service
    /// times between 25 and 75 ms.
    static let servers = [
        CrowdedServer(),
        CrowdedServer(refusal: .milliseconds(10)),
        CrowdedServer(refusal: .milliseconds(50)),
        CrowdedServer(service: .milliseconds(25) ... .milliseconds(75)),
        CrowdedServer(service: .milliseconds(25) ... .milliseconds(75), refusal: .milliseconds(50)),
    ]

    @Test(arguments: servers, 0..<4 as Range<UInt64>)
    func `none of ten thousand waiting requests fails, within 1.17 times the ideal time`(
        server: CrowdedServer,
        seed: UInt64
    ) {
        let outcome = outcome(of: Windowed(), server, seed)
        #expect(outcome.failed == 0)
        #expect(outcome.refused < 300)
        #expect(outcome.total < server.ideal(for: 10_000) * 1.17)
    }

    @Test(arguments: servers) func `releasing all requests, or doubling without limit, fails most of them`(
        server: CrowdedServer
    ) {
        #expect(outcome(of: AllAtOnce(), server, 1).failed > 9500)
        #expect(outcome(of: Doubling(), server, 1).failed > 7000)
    }

    @Test(arguments: servers) func `a window that doubles again after each reduction fails some requests`(
        server: CrowdedServer
    ) {
        #expect(outcome(of: SimpleWindow(.onePerSuccess), server, 1).failed > 0)
        #expect(outcome(of: SimpleWindow(.onePerSuccess), server, 1).refused > 1500)
    }

    @Test func `additive growth never recovers from an early overload`() {
        var patient = SimpleWindow(.onePerRoundTrip, requeuesRejected: true)
        var window = Windowed()
        for _ in 0..<3 {
            patient.succeeded(patient.started())
            window.succeeded(window.started())
        }
        patient.overloaded(patient.started())
        window.overloaded(window.started())
        #expect(outcome(of: patient, CrowdedServer(), 1).total > .seconds(6))
        #expect(outcome(of: window, CrowdedServer(), 1).total < .seconds(3.5))
    }

    private func outcome(of strategy: some ReleaseStrategy, _ server: CrowdedServer, _ seed: UInt64) -> ReleaseOutcome {
        var simulation = ReleaseSimulation(to: server, by: strategy, using: SeededGenerator(seed: seed))
        return simulation.run()
    }
}
