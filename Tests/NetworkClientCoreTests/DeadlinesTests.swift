import NetworkClientCore
import ReachabilityCore
import Testing

struct DeadlinesTests {
    private func moment(_ seconds: Int64) -> Instant { .init(nanoseconds: seconds * 1_000_000_000) }

    @Test func `the earliest deadline is next, and the earliest expired one is returned`() {
        var deadlines = Deadlines()
        #expect(deadlines.next == nil)
        #expect(deadlines.expired(at: moment(1_000)) == nil)
        deadlines[.read] = moment(5)
        deadlines[.total] = moment(3)
        #expect(deadlines.next == moment(3))
        #expect(deadlines.expired(at: moment(2)) == nil)
        #expect(deadlines.expired(at: moment(3)) == .total)
        #expect(deadlines.expired(at: moment(9)) == .total)
        deadlines[.total] = nil
        #expect(deadlines.expired(at: moment(9)) == .read)
        deadlines.clear()
        #expect(deadlines.next == nil)
    }

    @Test func `of two equal deadlines the broader kind is returned`() {
        var deadlines = Deadlines()
        deadlines[.read] = moment(5)
        deadlines[.total] = moment(5)
        #expect(deadlines.expired(at: moment(5)) == .total)
    }
}
