import ReachabilityCore
import Testing

@testable import Reachability

@Suite("Subscriber.StateMachine")
struct SubscriberStateMachineTests {
    @Test("A job is submitted for the first of several changes, and again while some are left")
    func jobs() {
        let machine = Machine(limit: 8)
        #expect(machine.enqueue(.test(.wifi, sequence: 1), ticket: 1))
        #expect(!machine.enqueue(.test(.wifi, sequence: 2), ticket: 2))
        #expect(machine.begin()?.sequence == 1)
        #expect(!machine.enqueue(.test(.wifi, sequence: 3), ticket: 3))
        #expect(machine.finish())
        #expect(machine.begin()?.sequence == 2)
        #expect(machine.finish())
        #expect(machine.begin()?.sequence == 3)
        #expect(!machine.finish())
        #expect(machine.enqueue(.test(.wifi, sequence: 4), ticket: 4))
    }

    @Test("A second job has nothing to do while the first runs")
    func neverTwice() {
        let machine = Machine(limit: 8)
        #expect(machine.enqueue(.test(.wifi, sequence: 1), ticket: 1))
        #expect(machine.begin() != nil)
        #expect(machine.begin() == nil)
        #expect(machine.call(.test(.wifi, sequence: 2), ticket: 2) == nil)
        #expect(machine.next()?.sequence == 2)
        #expect(machine.next() == nil)
    }

    @Test("A change that arrives during another thread's call is delivered after that call")
    func directCalls() {
        let machine = Machine(limit: 8)
        #expect(machine.call(.test(.wifi, sequence: 1), ticket: 1)?.event == .state)
        #expect(machine.call(.test(.wifi, sequence: 2), ticket: 2) == nil)
        #expect(machine.next()?.sequence == 2)
        #expect(machine.next() == nil)
        #expect(machine.call(.test(.wifi, sequence: 3), ticket: 3)?.event == .change)
    }

    @Test("A change that arrives late is dropped")
    func outOfOrder() {
        let machine = Machine(limit: 8)
        #expect(machine.enqueue(.test(.wifi, sequence: 2), ticket: 2))
        #expect(!machine.enqueue(.test(.wifi, sequence: 1), ticket: 1))
        #expect(machine.begin()?.sequence == 2)
        #expect(machine.next() == nil)
        #expect(machine.call(.test(.wifi, sequence: 2), ticket: 2) == nil)
    }

    @Test("After the end nothing is called, even for pending changes")
    func end() {
        let machine = Machine(limit: 8)
        #expect(machine.enqueue(.test(.wifi, sequence: 1), ticket: 1))
        machine.end()
        #expect(machine.begin() == nil)
        #expect(!machine.enqueue(.test(.wifi, sequence: 2), ticket: 2))
        #expect(machine.call(.test(.wifi, sequence: 3), ticket: 3) == nil)
        #expect(machine.next() == nil)
        #expect(!machine.finish())
    }

    @Test("An end during a call drops the pending changes")
    func endDuringCall() {
        let machine = Machine(limit: 8)
        #expect(machine.call(.test(.wifi, sequence: 1), ticket: 1) != nil)
        #expect(machine.call(.test(.wifi, sequence: 2), ticket: 2) == nil)
        machine.end()
        #expect(machine.next() == nil)
        #expect(!machine.finish())
    }
}

/// The state machine behind a reference, so that expectations can call mutating functions.
private final class Machine {
    private var machine: Subscriber<ReachabilityChange>.StateMachine

    init(limit: Int) { machine = .init(limit: limit) }

    func enqueue(_ change: ReachabilityChange, ticket: UInt64) -> Bool { machine.enqueue(change, ticket: ticket) }
    func call(_ change: ReachabilityChange, ticket: UInt64) -> ReachabilityChange? {
        machine.call(change, ticket: ticket)
    }
    func begin() -> ReachabilityChange? { machine.begin() }
    func next() -> ReachabilityChange? { machine.next() }
    func finish() -> Bool { machine.finish() }
    func end() { machine.end() }
}
