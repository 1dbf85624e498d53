import NetworkLab
import ReachabilityCore
import Testing

@Suite("Dumps of tables that change meanwhile", .serialized)
struct AssemblyAgainstKernelTests {
    /// The number of complete dumps for each seed.
    static let rounds = 25
    /// The seeds.
    static let seeds: [UInt64] = EventsAgainstDumpsTests.givenSeeds ?? [11, 12, 13, 14]

    @Test("Model and kernel agree after the dumps, whatever changed meanwhile", arguments: seeds)
    func converge(seed: UInt64) throws {
        let model = try ModelLab()
        var changes = RandomNetworkChanges(seed: seed, in: model.lab)
        try changes.prepare()
        for round in 1...Self.rounds {
            // Half of the dumps follow an overrun; the others find a model that has missed nothing.
            let isBlind = changes.chance(50)
            for _ in 1...8 { _ = changes.next() }
            if isBlind {
                try model.loseAnnouncements()
            } else {
                let differences = try model.differences()
                guard differences.isEmpty else {
                    Issue.record("seed \(seed), before round \(round):\n\(differences.joined(separator: "\n"))")
                    return
                }
            }
            var history: [String] = []
            let isQuiet = changes.chance(20)
            let subjects =
                ModelLab.prerequisites.shuffled(using: &changes.generator) + [.nexthops]
                + ModelLab.routes.shuffled(using: &changes.generator)
            let before = ModelImage(model.snapshot)
            let effect = try model.assemble(subjects) {
                if !isQuiet, changes.chance(40) { history.append(changes.next()) }
                return changes.chance(50)
            }
            if isQuiet, !isBlind, ModelImage(model.snapshot) == before {
                #expect(effect.reasons == [], "seed \(seed), round \(round): nothing had changed")
            }
            let differences = try model.differences()
            guard differences.isEmpty else {
                let text = (history + differences).joined(separator: "\n")
                Issue.record("seed \(seed), round \(round), blind: \(isBlind), changes meanwhile:\n\(text)")
                return
            }
        }
    }
}
