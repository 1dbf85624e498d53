/// The requests that wait at one gate.
///
/// For each priority a list of those that had a turn before, and one of those that had none. The links are in the entries.
struct WaitingLists: Sendable {
    /// Two for each priority; the odd ones hold those that were under way before.
    static let count = 2 * RequestPriority.allCases.count

    private var heads = InlineArray<6, Int32>(repeating: -1)
    private var tails = InlineArray<6, Int32>(repeating: -1)
    /// How many stand in all lists.
    private(set) var total = 0

    var isEmpty: Bool { total == 0 }

    /// The first of a list; -1 if it is empty.
    func first(_ list: Int) -> Int32 { heads[list] }

    /// Puts an entry at the end of its list.
    mutating func append(_ slot: Int32, _ entries: inout [WaitingEntry]) {
        let list = entries[Int(slot)].list
        let last = tails[list]
        entries[Int(slot)].previous = last
        entries[Int(slot)].next = -1
        if last < 0 { heads[list] = slot } else { entries[Int(last)].next = slot }
        tails[list] = slot
        total += 1
    }

    /// Takes an entry out.
    mutating func remove(_ slot: Int32, _ entries: inout [WaitingEntry]) {
        let entry = entries[Int(slot)]
        if entry.previous < 0 { heads[entry.list] = entry.next } else { entries[Int(entry.previous)].next = entry.next }
        if entry.next < 0 {
            tails[entry.list] = entry.previous
        } else {
            entries[Int(entry.next)].previous = entry.previous
        }
        entries[Int(slot)].next = -1
        entries[Int(slot)].previous = -1
        total -= 1
    }
}
