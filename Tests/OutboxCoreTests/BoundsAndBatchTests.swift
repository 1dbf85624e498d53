import OutboxCore
import Testing

/// The limits of an outbox.
@Suite struct BoxBoundsTests {
    private let bounds = BoxBounds(items: 10, bytes: 1_000, freeSpace: 100)

    private func admission(_ size: Int64, _ importance: LaneClass, items: Int, bytes: Int64, bulk: Bool) -> Admission {
        bounds.admission(of: size, importance, .init(items: items, bytes: bytes, freeSpace: 10_000), hasBulkItems: bulk)
    }

    @Test func `each class has its share`() {
        #expect(admission(1, .bulk, items: 7, bytes: 0, bulk: false) == .accepted)
        #expect(admission(1, .bulk, items: 8, bytes: 0, bulk: false) == .refused(.items))
        #expect(admission(1, .normal, items: 8, bytes: 0, bulk: false) == .accepted)
        #expect(admission(1, .normal, items: 9, bytes: 0, bulk: false) == .refused(.items))
        #expect(admission(1, .critical, items: 9, bytes: 0, bulk: false) == .accepted)
        #expect(admission(1, .critical, items: 10, bytes: 0, bulk: false) == .refused(.items))
    }

    @Test func `bulk items make space for others`() {
        #expect(admission(1, .bulk, items: 8, bytes: 0, bulk: true) == .dropsOldest(.items))
        #expect(admission(1, .critical, items: 10, bytes: 0, bulk: true) == .dropsOldest(.items))
        #expect(admission(200, .normal, items: 3, bytes: 800, bulk: true) == .dropsOldest(.bytes))
    }

    @Test func `nothing is dropped for an item that never fits`() {
        #expect(admission(2_000, .normal, items: 3, bytes: 800, bulk: true) == .refused(.bytes))
    }

    @Test func `an item may ever fit if its class has room for it, whatever size is announced`() {
        #expect(bounds.mayEverFit(900, .normal) && !bounds.mayEverFit(901, .normal))
        #expect(bounds.mayEverFit(1_000, .critical) && !bounds.mayEverFit(.max, .critical))
        #expect(admission(.max, .normal, items: 3, bytes: 800, bulk: true) == .refused(.bytes))
    }

    @Test func `free space is left on the file system`() {
        let usage = BoxUsage(items: 0, bytes: 0, freeSpace: 150)
        #expect(bounds.admission(of: 50, .normal, usage, hasBulkItems: false) == .accepted)
        #expect(bounds.admission(of: 51, .normal, usage, hasBulkItems: false) == .refused(.freeSpace))
    }
}

/// The composition of batches.
@Suite struct BatchRulesTests {
    private let rules = BatchRules(items: 3, bytes: 100, linger: .seconds(5))
    private let start = BoxTime(nanoseconds: 0)

    private func candidates(_ sizes: Int64...) -> [BatchRules.Candidate] { sizes.map { .init(size: $0, added: start) } }

    @Test func `items wait for others until the first has waited long enough`() {
        let end = start.advanced(by: .seconds(5))
        #expect(rules.composition([], at: start) == .none)
        #expect(rules.composition(candidates(1, 1), at: start) == .wait(until: end))
        #expect(rules.composition(candidates(1, 1), at: end) == .send(2))
    }

    @Test func `a full batch is sent immediately`() {
        #expect(rules.composition(candidates(1, 1, 1, 1), at: start) == .send(3))
        #expect(rules.composition(candidates(60, 60), at: start) == .send(1))
        #expect(rules.composition(candidates(500, 1), at: start) == .send(1))
    }

    @Test func `rules of any numbers are the nearest that can be used`() {
        let most = BatchRules(items: .max, bytes: .max, linger: .zero)
        let least = BatchRules(items: 0, bytes: -1, linger: .zero)
        #expect(most.items == 1_000_000 && most.bytes == 1 << 30)
        #expect(least.composition(candidates(1, 1), at: start) == .send(1))
    }

    @Test func `a rejected batch is halved down to the faulty item`() {
        #expect(BatchRules.split(5, status: 413) == [2, 3])
        #expect(BatchRules.split(2, status: 400) == [1, 1])
        #expect(BatchRules.split(1, status: 400) == nil)
        #expect(BatchRules.split(5, status: 404) == nil)
    }
}

/// The keys.
@Suite struct ItemKeyTests {
    @Test func `a key is quoted as a structured field, or bare`() {
        #expect(KeyStyle.quoted.fieldValue("a\"b\\c") == #""a\"b\\c""#)
        #expect(KeyStyle.bare.fieldValue("a\"b") == "a\"b")
    }

    @Test func `keys have visible ASCII characters only`() {
        #expect(ItemKey.problem("reading-7") == nil)
        #expect(ItemKey.problem("") == "is empty")
        #expect(ItemKey.problem("a b") != nil)
        #expect(ItemKey.problem("ä") != nil)
        #expect(ItemKey.problem(String(repeating: "a", count: 256)) != nil)
    }
}
