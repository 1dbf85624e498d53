@testable import RequestGate

/// Events on a clock that jumps from each to the next: the same story for the same input, on any machine.
struct VirtualTime<Event> {
    private(set) var now = BootInstant(nanoseconds: 0)
    private var heap = TimerHeap()
    private var events: [Event?] = []
    private var free: [Int32] = []

    /// Lets an event come after a while.
    mutating func schedule(_ event: Event, after delay: Duration) {
        let place = free.popLast() ?? Int32(events.count)
        if Int(place) == events.count { events.append(event) } else { events[Int(place)] = event }
        heap.set(place, at: now.advanced(by: delay))
    }

    /// When the next event comes.
    var nextMoment: BootInstant? { heap.first?.at }

    /// Lets time pass without an event.
    mutating func wait(until moment: BootInstant) { now = max(now, moment) }

    /// Goes to the next event.
    mutating func next() -> Event? {
        guard let first = heap.first else { return nil }
        heap.remove(first.id)
        now = max(now, first.at)
        free.append(first.id)
        return events[Int(first.id)].take()
    }
}
