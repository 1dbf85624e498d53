@testable import RequestGate

/// Events on a virtual clock that jumps from one to the next, so that a simulation is reproducible.
struct VirtualTime<Event> {
    private(set) var now = BootInstant(nanoseconds: 0)
    private var heap = TimerHeap()
    private var events: [Event?] = []
    private var free: [Int32] = []

    /// Schedules an event after a delay.
    mutating func schedule(_ event: Event, after delay: Duration) {
        let place = free.popLast() ?? Int32(events.count)
        if Int(place) == events.count { events.append(event) } else { events[Int(place)] = event }
        heap.set(place, at: now.advanced(by: delay))
    }

    /// The time of the next event.
    var nextMoment: BootInstant? { heap.first?.at }

    /// Advances the time without an event.
    mutating func wait(until moment: BootInstant) { now = max(now, moment) }

    /// Advances to the next event and returns it.
    mutating func next() -> Event? {
        guard let first = heap.first else { return nil }
        heap.remove(first.id)
        now = max(now, first.at)
        free.append(first.id)
        return events[Int(first.id)].take()
    }
}
