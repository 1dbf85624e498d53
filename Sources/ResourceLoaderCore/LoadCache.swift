/// Values in memory with a limit of their size; those used longest ago are removed first.
package struct LoadCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let size: Int
        var lastUse: Int
    }

    private let limit: Int
    private let preferredSize: Int
    private var entries: [Key: Entry] = [:]
    private var uses = 0
    /// The size of all values together, in bytes.
    package private(set) var size = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The size in bytes above which values are removed.
    ///   - preferredSize: The size in bytes that remains afterwards at most.
    package init(limit: Int, preferredSize: Int) {
        self.limit = max(0, limit)
        self.preferredSize = min(max(0, preferredSize), self.limit)
    }

    /// The number of values.
    package var count: Int { entries.count }

    private mutating func use() -> Int {
        uses += 1
        return uses
    }

    /// Returns a value; nil if there is none.
    package mutating func value(for key: Key) -> Value? {
        guard var entry = entries[key] else { return nil }
        entry.lastUse = use()
        entries[key] = entry
        return entry.value
    }

    /// Stores a value, in place of the previous one; a value larger than the limit is not stored.
    package mutating func store(_ value: Value, size: Int, for key: Key) {
        remove(key)
        guard size <= limit else { return }
        entries[key] = .init(value: value, size: max(0, size), lastUse: use())
        self.size += max(0, size)
        if self.size > limit { purge(to: preferredSize) }
    }

    /// Removes a value.
    package mutating func remove(_ key: Key) {
        if let old = entries.removeValue(forKey: key) { size -= old.size }
    }

    /// Removes all values.
    package mutating func removeAll() {
        entries = [:]
        size = 0
    }

    /// Removes values until their size is at most a given one; under memory pressure, the preferred one by default.
    package mutating func purge(to target: Int? = nil) {
        let target = target ?? preferredSize
        guard size > target else { return }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        for key in oldest {
            guard size > target else { return }
            remove(key)
        }
    }
}
