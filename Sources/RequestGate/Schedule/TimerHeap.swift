/// Moments by number, the earliest first; any of them can be moved or taken out.
///
/// A heap with four children a node, which knows where each number stands: setting and removing cost O(log n), the
/// earliest O(1). Numbers are dense from 0, such as places in a table. It takes 16 bytes a moment and 4 for each number
/// up to the highest that was ever set. Of equal moments, any comes first.
struct TimerHeap: Sendable {
    private var entries: [Entry] = []
    /// Where each number stands in ``entries``; ``absent`` for those that have no moment.
    private var places: [Int32] = []

    private static let absent: Int32 = -1

    private struct Entry: Sendable {
        var at: Int64
        var id: Int32
    }

    /// How many moments there are.
    var count: Int { entries.count }
    /// Whether there is none.
    var isEmpty: Bool { entries.isEmpty }

    /// The earliest.
    var first: (id: Int32, at: BootInstant)? {
        entries.first.map { ($0.id, BootInstant(nanoseconds: $0.at)) }
    }

    /// The moment of a number.
    func at(_ id: Int32) -> BootInstant? {
        place(of: id).map { BootInstant(nanoseconds: entries[$0].at) }
    }

    /// Makes room ahead, so that many can be set without moving what is there.
    mutating func reserveCapacity(_ count: Int) {
        entries.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Gives a number a moment, or another one.
    mutating func set(_ id: Int32, at moment: BootInstant) {
        let entry = Entry(at: moment.nanoseconds, id: id)
        guard let place = place(of: id) else { return insert(entry) }
        settle(entry, at: place, earlier: entry.at < entries[place].at)
    }

    /// Takes a number's moment away; says whether it had one.
    @discardableResult
    mutating func remove(_ id: Int32) -> Bool {
        guard let place = place(of: id), let last = entries.popLast() else { return false }
        places[Int(id)] = Self.absent
        guard last.id != id else { return true }
        settle(last, at: place, earlier: last.at < entries[place].at)
        return true
    }

    /// Takes the earliest out, if its moment has come.
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

    /// Finds the place for an entry, from a free place towards the root.
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

    /// Finds the place for an entry, from a free place towards the leaves.
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
    /// Appends, and where that needs more room takes an eighth more rather than twice as much.
    ///
    /// Of a million requests each byte counts; an element is copied nine times in all instead of twice.
    mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + Swift.max(32, count / 8)) }
        append(element)
    }
}
