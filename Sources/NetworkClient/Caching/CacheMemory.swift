import Locking
import NIOCore
import NetworkClientCore

/// Entries in memory; those unused for longest are removed first.
final class CacheMemory: CacheStore {
    fileprivate struct State {
        var nodes: [CacheKey: Node] = [:]
        var size = 0
        /// The least and the most recently used entries.
        var oldest: Node?
        var newest: Node?
    }

    /// An entry in the order of use; used under the lock only.
    ///
    /// Entries are retained by the dictionary only: a chain of references would be released recursively.
    fileprivate final class Node: @unchecked Sendable {
        var entry: CacheEntry
        let size: Int
        unowned(unsafe) var older: Node?
        unowned(unsafe) var newer: Node?

        init(_ entry: CacheEntry, size: Int) { (self.entry, self.size) = (entry, size) }
    }

    private let limit: Int
    private let state = Lock(State())

    init(limit: Int) { self.limit = max(0, limit) }

    var blocks: Bool { false }
    var size: Int { state.withLock { $0.size } }
    var maximumEntrySize: Int { limit / 4 }

    func read(_ key: CacheKey) -> CacheEntry? {
        state.withLock { state in
            guard let node = state.nodes[key] else { return nil }
            state.unlink(node)
            state.append(node)
            return node.entry
        }
    }

    func write(_ record: CacheRecord, _ body: NewCachedBody, under key: CacheKey) {
        guard case .bytes(let bytes) = body else { return }
        var record = record
        record.bodyLength = Int64(bytes.readableBytes)
        insert(.init(key: key, record: record, body: .bytes(bytes)), bytes.readableBytes)
    }

    func update(_ entry: CacheEntry) {
        guard case .bytes(let bytes) = entry.body else { return }
        insert(entry, bytes.readableBytes)
    }

    private func insert(_ entry: CacheEntry, _ bodySize: Int) {
        let size = bodySize + entry.record.bytes.count + 256
        state.withLock { state in
            state.remove(entry.key)
            guard size <= limit else { return }
            let node = Node(entry, size: size)
            state.nodes[entry.key] = node
            state.size += size
            state.append(node)
            while state.size > limit, let oldest = state.oldest { state.remove(oldest.entry.key) }
        }
    }

    func remove(_ key: CacheKey) { state.withLock { $0.remove(key) } }

    func removeAll(of key: CacheKey) {
        state.withLock { state in
            let keys = state.nodes.keys.filter { $0.hasLocation(of: key) }
            for key in keys { state.remove(key) }
        }
    }

    func removeAll() {
        state.withLock { state in
            while let oldest = state.oldest { state.remove(oldest.entry.key) }
        }
    }

    func makeSpilledBody() -> SpilledBody? { nil }
}

extension CacheMemory.State {
    fileprivate mutating func remove(_ key: CacheKey) {
        guard let node = nodes.removeValue(forKey: key) else { return }
        size -= node.size
        unlink(node)
    }

    fileprivate mutating func unlink(_ node: CacheMemory.Node) {
        if let older = node.older { older.newer = node.newer } else { oldest = node.newer }
        if let newer = node.newer { newer.older = node.older } else { newest = node.older }
        (node.older, node.newer) = (nil, nil)
    }

    fileprivate mutating func append(_ node: CacheMemory.Node) {
        node.older = newest
        if let newest { newest.newer = node } else { oldest = node }
        newest = node
    }
}
