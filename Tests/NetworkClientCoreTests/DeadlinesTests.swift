import NetworkClientCore
import ReachabilityCore
import Testing

struct DeadlinesTests {
    private func moment(_ seconds: Int64) -> Instant { .init(nanoseconds: seconds * 1_000_000_000) }

    @Test func `the first one is next, and the first that is due is told`() {
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

    @Test func `of two that are due at once the wider one is told`() {
        var deadlines = Deadlines()
        deadlines[.read] = moment(5)
        deadlines[.total] = moment(5)
        #expect(deadlines.expired(at: moment(5)) == .total)
    }
}
