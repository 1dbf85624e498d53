/// A priority queue of timers by number.
///
/// Any timer can be moved or removed.
///
/// It is a 4-ary heap that records the position of each number: setting and removing take O(log n), the earliest timer
/// O(1). Numbers are dense from 0, such as slots in a table. A timer takes 16 bytes, plus 4 bytes for each number up to
/// the highest that was ever set. Timers of the same instant have no particular order.
struct TimerHeap: Sendable {
    private var entries: [Entry] = []
    /// The position of each number in ``entries``; ``absent`` for numbers without a timer.
    private var places: [Int32] = []

    private static let absent: Int32 = -1

    private struct Entry: Sendable {
        var at: Int64
        var id: Int32
    }

    /// The number of timers.
    var count: Int { entries.count }
    /// Whether there are no timers.
    var isEmpty: Bool { entries.isEmpty }

    /// The earliest timer.
    var first: (id: Int32, at: BootInstant)? {
        entries.first.map { ($0.id, BootInstant(nanoseconds: $0.at)) }
    }

    /// Returns the instant of a number's timer; nil if it has none.
    func at(_ id: Int32) -> BootInstant? {
        place(of: id).map { BootInstant(nanoseconds: entries[$0].at) }
    }

    /// Reserves capacity for a number of timers.
    mutating func reserveCapacity(_ count: Int) {
        entries.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Sets or moves a number's timer.
    mutating func set(_ id: Int32, at moment: BootInstant) {
        let entry = Entry(at: moment.nanoseconds, id: id)
        guard let place = place(of: id) else { return insert(entry) }
        settle(entry, at: place, earlier: entry.at < entries[place].at)
    }

    /// Removes a number's timer.
    ///
    /// Returns whether it had one.
    @discardableResult
    mutating func remove(_ id: Int32) -> Bool {
        guard let place = place(of: id), let last = entries.popLast() else { return false }
        places[Int(id)] = Self.absent
        guard last.id != id else { return true }
        settle(last, at: place, earlier: last.at < entries[place].at)
        return true
    }

    /// Removes and returns the earliest timer if it has expired.
    mutating func popFirst(dueAt now: BootInstant) -> Int32? {
        guard let first = entries.first, first.at <= now.nanoseconds else { return nil }
        remove(first.id)
        return first.id
    }

    private func place(of id: Int32) -> Int? {
        guard places.indices.contains(Int(id)) else { return nil }
        let place = places[Int(id)]
        return place == Self.absent ? nil : Int(place)
    }

    private mutating func insert(_ entry: Entry) {
        while places.count <= Int(entry.id) { places.appendSparingly(Self.absent) }
        entries.appendSparingly(entry)
        rise(entry, from: entries.count - 1)
    }

    private mutating func settle(_ entry: Entry, at place: Int, earlier: Bool) {
        if earlier { rise(entry, from: place) } else { sink(entry, from: place) }
    }

    /// Moves an entry from a free position towards the root.
    private mutating func rise(_ entry: Entry, from place: Int) {
        var place = place
        while place > 0 {
            let parent = (place - 1) / 4
            guard entry.at < entries[parent].at else { break }
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    /// Moves an entry from a free position towards the leaves.
    private mutating func sink(_ entry: Entry, from place: Int) {
        var place = place
        while let child = earliestChild(of: place), entries[child].at < entry.at {
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private func earliestChild(of place: Int) -> Int? {
        let firstChild = place * 4 + 1
        guard firstChild < entries.count else { return nil }
        var earliest = firstChild
        for child in firstChild..<min(firstChild + 4, entries.count) where entries[child].at < entries[earliest].at {
            earliest = child
        }
        return earliest
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        places[Int(entry.id)] = Int32(truncatingIfNeeded: place)
    }
}

extension Array {
    /// Appends an element and grows the capacity by an eighth if needed, instead of doubling it.
    ///
    /// With a million requests, memory matters more than time: an element is copied nine times in all instead of twice.
    mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + Swift.max(32, count / 8)) }
        append(element)
    }
}
