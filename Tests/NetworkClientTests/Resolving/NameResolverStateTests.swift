import Testing

@testable import NetworkClient

@Suite("Which lookups run, and who waits for them")
struct NameResolverStateTests {
    typealias Machine = LookupScheduler
    let start = ContinuousClock.now

    /// A time in the scenario, in milliseconds.
    func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// A scheduler with two concurrent lookups, four threads, and a stall threshold of 100 ms.
    func machine() -> Machine { .init(.init(width: 2, bound: 4, stallThreshold: .milliseconds(100))) }

    /// Queries a name, and lets the requested thread run its lookup.
    func begin(_ name: String, at now: Int, _ machine: inout Machine) -> (query: UInt64, flight: UInt64?) {
        let (query, action) = machine.query(name, at: at(now))
        #expect(action == .startThread)
        let work = machine.next(at: at(now))
        #expect(work?.name == name)
        return (query, work?.id)
    }

    @Test func `a lookup gets a thread and its result, and the thread ends`() throws {
        var machine = machine()
        let (query, flight) = begin("a", at: 0, &machine)
        #expect(machine.threads == 1)
        #expect(machine.finished(try #require(flight)) == [query])
        #expect(machine.next(at: at(1)) == nil)
        #expect(machine.isIdle)
    }

    @Test func `queries of one name share a lookup`() throws {
        var machine = machine()
        let (first, flight) = begin("a", at: 0, &machine)
        let (second, action) = machine.query("a", at: at(500))
        #expect(action == .wait)
        #expect(machine.finished(try #require(flight)) == [first, second])
    }

    @Test func `a third name waits for the first free thread`() throws {
        var machine = machine()
        let (_, flight) = begin("a", at: 0, &machine)
        _ = begin("b", at: 0, &machine)
        let (third, action) = machine.query("c", at: at(1))
        #expect(action == .checkLater)
        #expect(machine.timePassed(for: third, at: at(50)) == .checkLater)
        _ = machine.finished(try #require(flight))
        #expect(machine.next(at: at(60))?.name == "c")
        #expect(machine.timePassed(for: third, at: at(101)) == .wait)
        #expect(machine.threads == 2)
    }

    @Test func `stalled lookups do not count, so others overtake them`() {
        var machine = machine()
        _ = begin("a", at: 0, &machine)
        _ = begin("b", at: 0, &machine)
        let (third, action) = machine.query("c", at: at(1))
        #expect(action == .checkLater)
        #expect(machine.timePassed(for: third, at: at(101)) == .startThread)
        #expect(machine.next(at: at(101))?.name == "c")
        _ = begin("d", at: 102, &machine)
        #expect(machine.threads == 4)
    }

    @Test func `when all threads are stalled, a query is refused`() throws {
        var machine = machine()
        for name in ["a", "b"] { _ = begin(name, at: 0, &machine) }
        let (_, flight) = begin("c", at: 100, &machine)
        _ = begin("d", at: 100, &machine)
        #expect(machine.query("e", at: at(150)).1 == .checkLater)
        let (refused, action) = machine.query("f", at: at(200))
        #expect(action == .refuse(stalled: 4))
        #expect(machine.cancel(refused) == false)
        _ = machine.finished(try #require(flight))
        #expect(machine.next(at: at(201))?.name == "e")
        #expect(machine.next(at: at(202)) == nil)
    }

    @Test func `queued queries are refused too once all threads are stalled`() {
        var machine = machine()
        for name in ["a", "b"] { _ = begin(name, at: 0, &machine) }
        for name in ["c", "d"] { _ = begin(name, at: 100, &machine) }
        let (waiting, _) = machine.query("e", at: at(101))
        #expect(machine.timePassed(for: waiting, at: at(201)) == .refuse(stalled: 4))
    }

    @Test func `a query that is cancelled in the queue is never looked up`() {
        var machine = machine()
        let (query, action) = machine.query("a", at: at(0))
        #expect(action == .startThread)
        #expect(machine.cancel(query) == true)
        #expect(machine.cancel(query) == false)
        #expect(machine.next(at: at(1)) == nil)
        #expect(machine.isIdle)
    }

    @Test func `the result of an abandoned lookup is dropped`() throws {
        var machine = machine()
        let (first, flight) = begin("a", at: 0, &machine)
        let (second, _) = machine.query("a", at: at(1))
        #expect(machine.cancel(first) == true)
        #expect(machine.cancel(second) == true)
        #expect(machine.finished(try #require(flight)) == [])
    }

    @Test func `an abandoned, stalled lookup is not shared, but a name never has three lookups`() throws {
        var machine = machine()
        let (first, old) = begin("a", at: 0, &machine)
        #expect(machine.cancel(first) == true)
        let (second, action) = machine.query("a", at: at(99))
        #expect(action == .wait)
        #expect(machine.cancel(second) == true)
        let (third, new) = begin("a", at: 100, &machine)
        #expect(new != old)
        #expect(machine.cancel(third) == true)
        let (fourth, last) = machine.query("a", at: at(500))
        #expect(last == .wait)
        #expect(machine.finished(try #require(old)) == [])
        #expect(machine.finished(try #require(new)) == [fourth])
    }

    @Test func `a lookup that began before the network changed is not shared, however young`() throws {
        var machine = machine()
        let (first, _) = begin("a", at: 0, &machine)
        #expect(machine.cancel(first, isOutdated: true) == true)
        let (second, flight) = begin("a", at: 90, &machine)
        let (third, action) = machine.query("a", at: at(95))
        #expect(action == .wait)
        #expect(machine.finished(try #require(flight)) == [second, third])
    }

    @Test func `without any thread, queries fail; with one, they wait`() {
        var machine = machine()
        let (first, _) = machine.query("a", at: at(0))
        let (second, action) = machine.query("b", at: at(0))
        #expect(action == .startThread)
        #expect(machine.threadFailed() == [])
        #expect(machine.threadFailed() == [first, second])
        #expect(machine.isIdle)
    }
}
