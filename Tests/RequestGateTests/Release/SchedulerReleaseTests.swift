import NetworkLab
import RequestGate
import Testing

/// The same expectations as in ``ReleaseSimulationTests``, for the whole scheduler.
struct SchedulerReleaseTests {
    typealias Simulation = SchedulerSimulation<SeededGenerator>

    @Test(arguments: ReleaseSimulationTests.servers, Simulation.Refusal.allCases)
    func `of ten thousand that waited none fails, in 1.3 of the time that the server needs`(
        server: CrowdedServer,
        refusal: Simulation.Refusal
    ) {
        for seed: UInt64 in 0..<2 {
            var simulation = Simulation(to: server, refusing: refusal, using: SeededGenerator(seed: seed))
            let outcome = simulation.run()
            #expect(outcome.failed == 0)
            #expect(outcome.left == 0)
            #expect(outcome.total < server.ideal(for: 10_000) * 1.3)
        }
    }

    @Test(arguments: Simulation.Refusal.allCases, 0..<4 as Range<UInt64>)
    func `a server that refuses all for a while is tried now and then, and then has all`(
        refusal: Simulation.Refusal,
        seed: UInt64
    ) {
        let server = CrowdedServer(opens: .init(nanoseconds: 3_000_000_000))
        var simulation = Simulation(requests: 2000, to: server, refusing: refusal, using: SeededGenerator(seed: seed))
        let outcome = simulation.run()
        #expect(outcome.failed == 0)
        #expect(outcome.left == 0)
        #expect(outcome.refused < 100)
        #expect(outcome.total > .seconds(3))
        #expect(outcome.total < .seconds(3 + 4 + 1))
    }

    @Test(arguments: Simulation.Refusal.allCases)
    func `a server that always refuses is not asked in a loop`(refusal: Simulation.Refusal) {
        let server = CrowdedServer(capacity: 0)
        var simulation = Simulation(requests: 50, to: server, refusing: refusal, using: SeededGenerator(seed: 1))
        let outcome = simulation.run()
        #expect(outcome.failed == 50)
        // Three attempts each, with delays of up to 6.4 s between probes.
        #expect(outcome.refused == 150)
        #expect(outcome.end > .seconds(300))
    }
}
