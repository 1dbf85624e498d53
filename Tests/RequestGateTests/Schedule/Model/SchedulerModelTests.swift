import Glibc
import Testing

/// Randomized simulations of the scheduler, in each of which its invariants must hold.
///
/// `NETWATCH_SEEDS` sets the number of simulations; `NETWATCH_SEED` runs only one.
struct SchedulerModelTests {
    private static let parts = 8

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    private static func seeds(of part: Int) -> [UInt64] {
        if let seed = number("NETWATCH_SEED") { return part == 0 ? [seed] : [] }
        let count = number("NETWATCH_SEEDS") ?? 200
        return (0..<count).filter { $0 % UInt64(parts) == UInt64(part) }
    }

    @Test(arguments: 0..<8) func `random simulations keep the scheduler's invariants`(part: Int) {
        let seeds = Self.seeds(of: part)
        var tally = ModelTally()
        for seed in seeds {
            var world = ModelWorld(seed: seed)
            world.play()
            #expect(world.violation == nil, "\(world.violation ?? "")")
            tally += world.tally
            if world.violation != nil { return }
        }
        guard seeds.count >= 25 else { return }
        for path in ModelTally.all { #expect(tally[keyPath: path] > 0, "never: \(path)") }
    }
}
