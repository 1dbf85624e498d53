import ResourceLoaderCore
import Testing

/// A cache that can be changed within an expectation.
private final class Cache<Key: Hashable & Sendable> {
    private var cache: LoadCache<Key, Int>

    init(limit: Int, preferredSize: Int) { cache = .init(limit: limit, preferredSize: preferredSize) }

    var size: Int { cache.size }
    var count: Int { cache.count }
    func value(for key: Key) -> Int? { cache.value(for: key) }
    func store(_ value: Int, size: Int, for key: Key) { cache.store(value, size: size, for: key) }
    func removeAll() { cache.removeAll() }
    func purge() { cache.purge() }
    func purge(to size: Int) { cache.purge(to: size) }
}

/// Values in memory.
struct LoadCacheTests {
    @Test func `above the limit, the values used longest ago are removed until the preferred size remains`() {
        let cache = Cache<String>(limit: 100, preferredSize: 60)
        for (number, key) in ["a", "b", "c", "d", "e"].enumerated() { cache.store(number, size: 20, for: key) }
        #expect(cache.size == 100 && cache.count == 5)
        #expect(cache.value(for: "a") == 0)
        cache.store(5, size: 20, for: "f")
        #expect(cache.size == 60 && cache.value(for: "b") == nil && cache.value(for: "d") == nil)
        #expect(cache.value(for: "a") == 0 && cache.value(for: "e") == 4 && cache.value(for: "f") == 5)
    }

    @Test func `a value replaces the previous one, and one larger than the limit is not stored`() {
        let cache = Cache<String>(limit: 100, preferredSize: 60)
        cache.store(1, size: 30, for: "a")
        cache.store(2, size: 50, for: "a")
        #expect(cache.size == 50 && cache.value(for: "a") == 2)
        cache.store(3, size: 101, for: "a")
        #expect(cache.size == 0 && cache.value(for: "a") == nil)
        cache.store(4, size: -1, for: "b")
        #expect(cache.size == 0 && cache.value(for: "b") == 4)
    }

    @Test func `a purge leaves the preferred size`() {
        let cache = Cache<Int>(limit: 100, preferredSize: 30)
        for number in 1...9 { cache.store(number, size: 10, for: number) }
        cache.purge()
        #expect((1...9).filter { cache.value(for: $0) != nil } == [7, 8, 9])
        cache.purge(to: 0)
        #expect(cache.count == 0 && cache.size == 0)
        cache.store(1, size: 10, for: 1)
        cache.removeAll()
        #expect(cache.count == 0 && cache.size == 0)
    }
}
