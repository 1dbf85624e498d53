import EventCore
import Testing

@Suite struct JournalPageTests {
    /// Two runs that ended in order, one that was killed, and the present one.
    private let runs = [
        JournalRun(ordinal: 1, run: 10, last: 3, removed: 1), .init(ordinal: 2, run: 20, last: 2, removed: 0),
        .init(ordinal: 4, run: 40, last: nil, removed: 0), .init(ordinal: 5, run: 50, last: nil, removed: 0),
    ]

    private func page(after id: EventID, _ rows: [(Int64, UInt64)]) -> JournalPage<UInt64> {
        JournalOrder(runs).page(after: id) { ordinal, sequence in
            rows.filter { $0 > (ordinal, sequence) }.map { .init(ordinal: $0.0, sequence: $0.1, event: $0.1) }
        }
    }

    private func id(_ run: UInt64, _ sequence: UInt64) -> EventID { .init(run: run, sequence: sequence) }

    @Test func `events continue over runs that ended in order, without a gap`() {
        let page = page(after: id(10, 2), [(1, 3), (2, 1), (2, 2)])
        #expect(page.entries.map(\.id) == [id(10, 3), id(20, 1), id(20, 2)])
        #expect(page.entries.allSatisfy { $0.gap == nil })
        #expect(page.successor == 40)
    }

    @Test func `after a run that was killed, and where events are missing, there is a gap`() {
        let page = page(after: id(40, 1), [(4, 4), (5, 1)])
        #expect(
            page.entries.map(\.gap) == [
                .init(from: id(40, 1), missed: 2, reason: .lost), .init(from: id(40, 4), missed: nil, reason: .lost),
            ]
        )
        #expect(page.successor == nil)
    }

    @Test func `a run that did not begin with its first event is preceded by a gap`() {
        #expect(
            page(after: id(20, 2), [(4, 2)]).entries.first?.gap == .init(from: id(20, 2), missed: nil, reason: .lost)
        )
    }

    @Test func `removed events give no entries but the reason`() {
        #expect(page(after: id(10, 0), [(1, 2)]).failure == .expired)
        #expect(page(after: id(10, 1), [(1, 2)]).failure == nil)
        #expect(page(after: id(11, 0), [(1, 2)]).failure == .unknown)
        #expect(page(after: id(20, 3), [(4, 1)]).failure == .unknown)
    }

    @Test func `a number that no event can have is unknown, also in a run whose end is unknown`() {
        // A journal cannot look such a number up.
        for sequence in [UInt64(Int64.max) + 1, .max] {
            for run in [UInt64(40), 50] {
                let page = JournalOrder(runs).page(after: id(run, sequence)) { _, _ -> [JournalOrder.Stored<UInt64>] in
                    Issue.record("the journal is read after \(sequence)")
                    return []
                }
                #expect(page.failure == .unknown)
            }
        }
        #expect(page(after: id(50, UInt64(Int64.max)), []).failure == nil)
    }

    @Test func `an event that the journal lost is in order all the same`() {
        // The run ended with 3, of which 3 could not be stored.
        #expect(page(after: id(10, 3), [(2, 1)]).entries.first?.gap == nil)
        #expect(page(after: id(10, 2), [(2, 1)]).entries.first?.gap?.reason == .lost)
    }
}
