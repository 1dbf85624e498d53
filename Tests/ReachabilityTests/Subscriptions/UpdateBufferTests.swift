import ReachabilityCore
import Testing

@testable import Reachability

@Suite("UpdateBuffer")
struct UpdateBufferTests {
    @Test("Returns changes in order, the first as a baseline")
    func order() {
        var backlog = UpdateBuffer<ReachabilityChange>(limit: 4)
        backlog.push(.test(.wifi, sequence: 1))
        backlog.push(.test(.cellular, sequence: 2))

        let first = backlog.pop()
        #expect(first?.event == .state)
        #expect(first?.previous == nil)
        #expect(first?.reasons == [.initial])
        #expect(first?.sequence == 1)
        let rest = [backlog.pop(), backlog.pop()]
        #expect(rest == [.test(.cellular, sequence: 2), nil])
    }

    @Test("Drops the oldest changes, never the last; the first that is taken is still a baseline")
    func overflow() {
        var backlog = UpdateBuffer<ReachabilityChange>(limit: 2)
        for sequence in 1...5 { backlog.push(.test(.wifi, sequence: UInt64(sequence))) }

        let first = backlog.pop()
        #expect(first?.event == .state)
        #expect(first?.sequence == 4)
        let last = backlog.pop()
        #expect(last?.sequence == 5)
        #expect(backlog.isEmpty)
    }

    @Test("After any additions and removals, the newest changes are left in order", arguments: [1, 2, 3, 7, 64])
    func mixed(_ limit: Int) {
        var backlog = UpdateBuffer<ReachabilityChange>(limit: limit)
        var model: [UInt64] = []
        for step in UInt64(1)...2000 {
            // Pushes and pops are in runs of different lengths.
            if (step * 2_654_435_761 >> 7) % 5 < 3 {
                backlog.push(.test(.wifi, sequence: step))
                model = (model + [step]).suffix(limit)
            } else {
                let taken = backlog.pop()
                #expect(taken?.sequence == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(backlog.isEmpty == model.isEmpty)
        }
        backlog.removeAll()
        #expect(backlog.isEmpty)
    }

    @Test("Keeps at least one change", arguments: [0, -1, Int.min])
    func nonsenseLimit(_ limit: Int) {
        var backlog = UpdateBuffer<ReachabilityChange>(limit: limit)
        backlog.push(.test(.wifi, sequence: 1))
        backlog.push(.test(.wifi, sequence: 2))
        let taken = [backlog.pop(), backlog.pop()]
        #expect(taken.map { $0?.sequence } == [2, nil])
    }

    @Test("A baseline has the reason of an unknown state, and the first state is unchanged")
    func baselines() {
        var unknown = ReachabilityChange.test(.unknown)
        unknown.reasons = [.netlinkFailed]
        #expect(unknown.asBaseline.reasons == [.netlinkFailed])
        #expect(unknown.asBaseline.event == .state)

        var reading = ReachabilityChange.test(.wifi)
        reading.event = .state
        reading.previous = nil
        #expect(reading.asBaseline == reading)
    }
}
