import EventCore
import Testing

@Suite struct SubscriberLimitTests {
    private var limit = SubscriberLimit<String, Int>(maximum: 2, maximumWaiting: 1)

    @Test mutating func `a peer over the limit waits, and is refused when too many wait`() {
        #expect((1...4).map { limit.add($0, of: "a") } == [.admitted, .admitted, .waits, .refused])
        #expect(limit.add(5, of: "b") == .admitted)
        #expect(limit.count == 3)
    }

    @Test mutating func `the first that waits is next when another one of its peer ends`() {
        for subscriber in 1...3 { _ = limit.add(subscriber, of: "a") }
        #expect(limit.add(9, of: "b") == .admitted)
        #expect(limit.remove(9, of: "b") == nil)
        #expect(limit.remove(1, of: "a") == 3)
        #expect(limit.remove(2, of: "a") == nil)
        #expect(limit.remove(3, of: "a") == nil)
        #expect(limit.count == 0)
    }

    @Test mutating func `one that ends while it waits takes nobody's turn`() {
        for subscriber in 1...3 { _ = limit.add(subscriber, of: "a") }
        #expect(limit.remove(3, of: "a") == nil)
        #expect(limit.remove(1, of: "a") == nil)
        #expect(limit.add(4, of: "a") == .admitted)
        #expect(limit.remove(7, of: "c") == nil)
    }
}
