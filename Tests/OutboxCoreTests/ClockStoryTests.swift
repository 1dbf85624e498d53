import NetworkLab
import OutboxCore
import Testing

/// Stories of machines that boot in 1970, are set to 2100 and back, are suspended and lose power: nothing expires early,
/// and nothing is sent before its time.
@Suite struct ClockStoryTests {
    @Test(arguments: 1...300)
    func `nothing expires early, and nothing is sent before its time`(seed: Int) {
        var machine = StoryMachine(seed: UInt64(seed))
        machine.run()
        #expect(machine.problems == [])
    }
}

/// A machine, whose real time is known to the story only.
private struct StoryMachine {
    private static let second: Int64 = 1_000_000_000
    private static let year2026 = 1_795_000_000 * second
    private static let year2100 = 4_102_444_800 * second

    private var generator: SeededGenerator
    /// The real time since the outbox was created.
    private var elapsed: Int64 = 0
    private var boot = 0
    private var bootedAt: Int64 = 0
    /// The wall clock's deviation from real time.
    private var deviation: Int64
    private var isSynchronized = false
    private var clock: BoxClock
    private var stored: BoxClock
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        generator = .init(seed: seed)
        deviation = seed % 2 == 0 ? 0 : -Self.year2026
        let wall = Self.year2026 + deviation
        let reading = ClockReading(bootIdentifier: "0", sinceBoot: 0, wall: wall, isSynchronized: false)
        clock = BoxClock(at: reading)
        stored = clock
    }

    private var reading: ClockReading {
        .init(
            bootIdentifier: "\(boot)",
            sinceBoot: elapsed - bootedAt,
            wall: Self.year2026 + elapsed + deviation,
            isSynchronized: isSynchronized
        )
    }

    mutating func run() {
        // An item that expires after three days, and one that may be sent after two.
        let (expires, notBefore) = (3 * 86_400 * Self.second, Self.year2026 + 2 * 86_400 * Self.second)
        for _ in 0..<200 {
            step()
            let now = clock.update(reading)
            if now.nanoseconds >= expires, elapsed < expires { problems.append("expired early, after \(elapsed)") }
            let isDue = reading.isSynchronized && reading.wall >= notBefore
            if isDue, Self.year2026 + elapsed < notBefore { problems.append("sent before its time") }
            // It is stored like this: at a reboot, a first synchronization, and every ten minutes.
            if Int.random(in: 0..<3, using: &generator) == 0 { stored = clock }
            if problems.count > 3 { return }
        }
    }

    private mutating func step() {
        elapsed += Int64.random(in: 0...6 * 3_600, using: &generator) * Self.second
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: set(to: 0)
        case 1: set(to: Self.year2100)
        case 2: set(to: Self.year2026 + elapsed - 86_400 * Self.second)
        case 3: (deviation, isSynchronized) = (0, true)
        case 4: powerFails()
        // Suspended: the time since boot advances.
        case 5: elapsed += Int64.random(in: 0...24, using: &generator) * 3_600 * Self.second
        case 6: clock = copy(of: stored)
        default: break
        }
    }

    /// Sets the wall clock by hand, which ends its synchronization (adjtimex(2)).
    private mutating func set(to wall: Int64) { (deviation, isSynchronized) = (wall - Self.year2026 - elapsed, false) }

    /// Ends the boot; what was not stored is gone, and the next boot begins later, often in 1970.
    private mutating func powerFails() {
        elapsed += Int64.random(in: 0...48, using: &generator) * 3_600 * Self.second
        (boot, bootedAt) = (boot + 1, elapsed)
        if Bool.random(using: &generator) { set(to: 0) } else { isSynchronized = false }
        clock = copy(of: stored)
    }

    private func copy(of clock: BoxClock) -> BoxClock {
        .init(bootIdentifier: clock.bootIdentifier, sinceBoot: clock.sinceBoot, time: clock.time, clock.anchor)
    }
}
