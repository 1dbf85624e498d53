/// How many calls there were of late and how many of them failed, in ten slots that are forgotten one by one.
struct RecentCalls: Sendable {
    private struct Slot: Sendable {
        var number: Int64
        var calls = 0
        var failures = 0
    }

    private static let slotCount: Int64 = 10
    private let slotNanoseconds: Int64
    private var slots: [Slot] = []

    init(over duration: Duration) {
        slotNanoseconds = max(duration.clampedNanoseconds / Self.slotCount, 1)
    }

    /// How many calls of the slots that are still there, and how many failures.
    var totals: (calls: Int, failures: Int) {
        slots.reduce(into: (0, 0)) { totals, slot in
            totals.0 += slot.calls
            totals.1 += slot.failures
        }
    }

    /// Counts a call and forgets those that are too long ago.
    mutating func count(isFailure: Bool, at now: BootInstant) {
        let number = now.nanoseconds / slotNanoseconds
        slots.removeAll { number - $0.number >= Self.slotCount }
        if slots.last?.number != number { slots.append(Slot(number: number)) }
        slots[slots.endIndex - 1].calls += 1
        slots[slots.endIndex - 1].failures += isFailure ? 1 : 0
    }
}
