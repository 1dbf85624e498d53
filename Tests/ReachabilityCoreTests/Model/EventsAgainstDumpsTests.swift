import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("The model by notifications, compared with the kernel's dumps", .serialized)
struct EventsAgainstDumpsTests {
    /// The number of changes for each seed.
    static let steps = environment("NETWATCH_MODEL_STEPS").flatMap { Int($0) } ?? 400

    /// Seeds from the environment, which repeat a run.
    static let givenSeeds: [UInt64]? =
        environment("NETWATCH_MODEL_SEEDS").map { text in text.split(separator: ",").compactMap { UInt64($0) } }

    /// The seeds.
    static let seeds: [UInt64] = givenSeeds ?? [1, 2, 3]

    @Test("After each of many random changes both are equal, order included", arguments: seeds)
    func agree(seed: UInt64) throws {
        let model = try ModelLab()
        var changes = RandomNetworkChanges(seed: seed, in: model.lab)
        try changes.prepare()
        var history: [String] = []
        var seen: Set<ReachabilityReason> = []
        var predictions = 0
        for step in 1...Self.steps {
            model.forget()
            let before = ModelImage(model.snapshot)
            history.append(changes.next())
            let differences = try model.differences()
            guard differences.isEmpty else {
                let head = "seed \(seed), step \(step), the last changes being"
                let text = [head] + history.suffix(12) + differences + Self.context(differences, before, model.log)
                Issue.record("\(text.joined(separator: "\n"))")
                return
            }
            seen.formUnion(model.reasons)
            predictions += model.predictions.count
        }
        #expect(changes.accepted.count == RandomNetworkChanges.kinds.count, "seed \(seed): \(changes.accepted)")
        #expect(Self.expected.subtracting(seen) == [], "seed \(seed)")
        #expect(predictions > 0, "seed \(seed)")
    }

    /// The kinds of changes that every seed must cause for the test to prove anything.
    private static let expected: Set<ReachabilityReason> = [
        .linkUp, .linkDown, .carrierLost, .carrierGained, .addressAdded, .addressRemoved,
        .routeAdded, .routeRemoved, .routeReplaced, .routeFlushed, .ruleChanged, .nexthopChanged,
    ]

    /// The earlier entries of the tables that differ, and the notifications since.
    private static func context(
        _ differences: [String],
        _ before: ModelImage,
        _ log: [(NetlinkHeader, KernelEvent)]
    ) -> [String] {
        let concerned = differences.filter { !$0.hasPrefix(" ") }.map { String($0.prefix { $0 != ":" }) }
        let state = concerned.flatMap { ["\($0) before:"] + (before.subjects[$0] ?? []) }
        return state + ["announced:"] + log.map { "  \($0.0.flags.rawValue) \($0.1)" }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
