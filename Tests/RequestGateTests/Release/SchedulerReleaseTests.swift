import NetworkLab
import RequestGate
import Testing

/// The same expectations as in ``ReleaseSimulationTests``, for the whole scheduler.
struct SchedulerReleaseTests {
    typealias Simulation = SchedulerSimulation<SeededGenerator>

    @Test(arguments: ReleaseSimulationTests.servers, Simulation.Refusal.allCases)
    func `none of ten thousand waiting requests fails, within 1.17 times the ideal time`(
        server: CrowdedServer,
        refusal: Simulation.Refusal
    ) {
        for seed: UInt64 in 0..<2 {
            var simulation = Simulation(to: server, refusing: refusal, using: SeededGenerator(seed: seed))
            let outcome = simulation.run()
            #expect(outcome.failed == 0)
            #expect(outcome.left == 0)
            #expect(outcome.total < server.ideal(for: 10_000) * 1.17)
        }
    }

    @Test(arguments: Simulation.Refusal.allCases, 0..<4 as Range<UInt64>)
    func `a server that rejects everything for a while is probed, and then gets all requests`(
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

    @Test(arguments: Simulation.Refusal.allCases, 0..<4 as Range<UInt64>)
    func `a server that takes one request at a time refuses hardly more than every second`(
        refusal: Simulation.Refusal,
        seed: UInt64
    ) {
        let server = CrowdedServer(capacity: 1)
        var simulation = Simulation(requests: 400, to: server, refusing: refusal, using: SeededGenerator(seed: seed))
        let outcome = simulation.run()
        #expect(outcome.left == 0)
        #expect(outcome.refused < 300)
        #expect(outcome.failed < 40)
    }

    @Test(arguments: Simulation.Refusal.allCases)
    func `a server that always rejects is not asked in a loop`(refusal: Simulation.Refusal) {
        let server = CrowdedServer(capacity: 0)
        var simulation = Simulation(requests: 50, to: server, refusing: refusal, using: SeededGenerator(seed: 1))
        let outcome = simulation.run()
        #expect(outcome.failed == 50)
        // Three attempts each, with delays of up to 6.4 s between probes.
        #expect(outcome.refused == 150)
        #expect(outcome.end > .seconds(300))
    }
}
