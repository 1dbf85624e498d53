import NetworkLab
import Testing

@testable import RequestGate

struct SchedulerMemoryTests {
    @Test func `memory is freed after many requests, and identifiers are not repeated`() {
        let start = BootInstant(nanoseconds: 0)
        var scheduler = RequestScheduler()
        let gate = scheduler.addGate(of: scheduler.addHost(), isOpen: false, at: start)
        let order = RequestScheduler.Order(
            gate: gate,
            deadline: .init(nanoseconds: 1),
            traits: .init(isIdempotent: true, isReplayable: true)
        )
        var known: Set<RequestScheduler.RequestID> = []
        for round in 1...3 {
            let ids = (0..<2000).map { _ in scheduler.submit(order, at: start) }
            known.formUnion(ids)
            #expect(known.count == 2000 * round)
            for id in ids { scheduler.cancel(id, at: start) }
            #expect(scheduler.count == 0)
            #expect(scheduler.nextMoment == nil)
            #expect(known.allSatisfy { !scheduler.isCurrent($0) })
        }
    }

    @Test func `a sparingly growing array has at most an eighth of spare capacity`() {
        var array: [UInt64] = []
        for number in 0..<20_000 as Range<UInt64> {
            array.appendSparingly(number)
            // Allocations are rounded up to pages.
            #expect(array.capacity <= array.count + max(32, array.count / 8) + 512)
        }
        #expect(array == Array(0..<20_000))
    }
}
