import OutboxCore
import Testing

/// The clock by which items expire: no jump of the wall clock makes anything expire early.
@Suite struct BoxClockTests {
    private static let second: Int64 = 1_000_000_000
    private static let day = 86_400 * second
    private static let year2026 = 1_795_000_000 * second
    private static let year2100 = 4_102_444_800 * second

    private func reading(_ boot: String, _ sinceBoot: Int64, wall: Int64, synchronized: Bool = true) -> ClockReading {
        .init(bootIdentifier: boot, sinceBoot: sinceBoot, wall: wall, isSynchronized: synchronized)
    }

    @Test func `within a boot it follows the time since boot, whatever the wall clock does`() {
        var clock = BoxClock(at: reading("a", 0, wall: 0, synchronized: false))
        let walls = [Self.year2026, Self.year2100, 0, Self.year2026]
        for (index, wall) in walls.enumerated() {
            let elapsed = Int64(index + 1) * Self.second
            #expect(clock.update(reading("a", elapsed, wall: wall)).nanoseconds == elapsed)
        }
    }

    @Test func `stored times at the ends of the range are clamped`() {
        let (first, last) = (BoxTime(nanoseconds: .min), BoxTime(nanoseconds: .max))
        #expect(first.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min))
        #expect(first.advanced(by: .seconds(-1)) == first && last.advanced(by: .seconds(1)) == last)
        var clock = BoxClock(bootIdentifier: "a", sinceBoot: .min, time: .init(nanoseconds: 7), nil)
        #expect(clock.update(reading("a", 0, wall: 0)) == last)
        #expect(DailyBudget(spent: .max, start: last).room(of: -2, at: first) == 0)
        #expect(AllowedHours(from: .max, to: .min).delay(atSecondOfDay: 0) == .seconds(23 * 3_600))
    }

    @Test func `time in suspend counts`() {
        var clock = BoxClock(at: reading("a", Self.second, wall: Self.year2026))
        #expect(clock.update(reading("a", Self.second + Self.day, wall: Self.year2026)).nanoseconds == Self.day)
    }

    @Test func `over a reboot it adds the time that the machine was off, once`() {
        var clock = BoxClock(at: reading("a", 0, wall: Self.year2026))
        let later = Self.year2026 + 3 * Self.day
        #expect(clock.update(reading("b", 5 * Self.second, wall: later)).nanoseconds == 3 * Self.day)
        #expect(clock.update(reading("b", 6 * Self.second, wall: later)).nanoseconds == 3 * Self.day + Self.second)
    }

    @Test func `a boot that begins in 1970 adds the time when the clock is synchronized`() {
        var clock = BoxClock(at: reading("a", 0, wall: Self.year2026))
        #expect(clock.update(reading("b", Self.second, wall: 0, synchronized: false)).nanoseconds == 0)
        #expect(clock.update(reading("b", 2 * Self.second, wall: 0, synchronized: false)).nanoseconds == Self.second)
        let later = Self.year2026 + Self.day
        #expect(clock.update(reading("b", 3 * Self.second, wall: later)).nanoseconds == Self.day)
    }

    @Test func `a reboot with an unsynchronized clock in 2100 adds nothing`() {
        var clock = BoxClock(at: reading("a", 0, wall: Self.year2026))
        #expect(clock.update(reading("b", 0, wall: Self.year2100, synchronized: false)).nanoseconds == 0)
    }

    @Test func `a clock that was never synchronized before a reboot adds nothing`() {
        var clock = BoxClock(at: reading("a", 0, wall: 0, synchronized: false))
        #expect(clock.update(reading("a", Self.second, wall: 0, synchronized: false)).nanoseconds == Self.second)
        #expect(clock.update(reading("b", 0, wall: Self.year2026)).nanoseconds == Self.second)
    }

    @Test func `it never goes back`() {
        var clock = BoxClock(at: reading("a", 0, wall: Self.year2100))
        let before = clock.update(reading("a", Self.day, wall: Self.year2100))
        #expect(clock.update(reading("b", 0, wall: Self.year2026)) == before)
        #expect(clock.update(reading("b", Self.second, wall: 0)) == before.advanced(by: .seconds(1)))
    }

    @Test func `stored and read again, it continues`() {
        var clock = BoxClock(at: reading("a", 0, wall: Self.year2026))
        _ = clock.update(reading("a", Self.day, wall: Self.year2026))
        var copy = BoxClock(
            bootIdentifier: clock.bootIdentifier,
            sinceBoot: clock.sinceBoot,
            time: clock.time,
            clock.anchor
        )
        let next = reading("a", 2 * Self.day, wall: 0, synchronized: false)
        #expect(copy.update(next) == clock.update(next))
    }
}
