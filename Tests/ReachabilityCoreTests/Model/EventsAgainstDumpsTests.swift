import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("The model that events make, against the kernel's lists", .serialized)
struct EventsAgainstDumpsTests {
    /// How many changes each seed makes.
    static let steps = environment("NETWATCH_MODEL_STEPS").flatMap { Int($0) } ?? 300

    /// The seeds; one from outside repeats a run.
    static let seeds: [UInt64] =
        environment("NETWATCH_MODEL_SEEDS").map { text in text.split(separator: ",").compactMap { UInt64($0) } }
        ?? [1, 2, 3]

    @Test("After each of many random changes, both are the same, order included", arguments: seeds)
    func agree(seed: UInt64) throws {
        let model = try ModelLab()
        var changes = RandomNetworkChanges(seed: seed, in: model.lab)
        try changes.prepare()
        var history: [String] = []
        for step in 1...Self.steps {
            model.forget()
            history.append(changes.next())
            let differences = try model.differences()
            guard differences.isEmpty else {
                let events = model.log.map { "  \($0.0.flags.rawValue) \($0.1)" }
                let recent = history.suffix(12).joined(separator: "\n")
                let text = (differences + ["announced:"] + events).joined(separator: "\n")
                Issue.record("seed \(seed), step \(step), the last change being\n\(recent)\n\(text)")
                return
            }
        }
        for kind in ["link", "address", "IPv4 route", "IPv6 route", "nexthop", "rule", "setting"] {
            #expect(changes.accepted[kind, default: 0] > 0, "no \(kind) was changed with seed \(seed)")
        }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
