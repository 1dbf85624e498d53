import Glibc
import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Invalidations by one thread while another stores a response.
@Suite(.timeLimit(.minutes(5)))
struct CacheInvalidationTests {
    private static let url = "http://a:80/"

    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func cache(_ place: CacheLab.Place) throws -> (HTTPCache, HookedStore) {
        let store: HookedStore
        switch place {
        case .memory: store = HookedStore(CacheMemory(limit: 1 << 20))
        case .folder: store = HookedStore(try CacheFolder("\(folder.path)/cache", limit: 1 << 20))
        }
        return (HTTPCache(store, folder: nil, limit: 1 << 20) { 1_767_225_600 }, store)
    }

    private static func response(_ tag: String) -> CachedResponse {
        .init(
            status: 200,
            reason: "OK",
            fields: .init([.init("Cache-Control", "max-age=9"), .init("ETag", tag)]),
            requestTime: 1_767_225_600,
            responseTime: 1_767_225_600
        )
    }

    private func save(in cache: HTTPCache) {
        cache.save(Self.response("\"a\""), .bytes(.init()), for: Self.url, .init(), epoch: cache.epoch)
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a response is not stored after an invalidation that comes just before`(place: CacheLab.Place) throws {
        let (cache, store) = try cache(place)
        store.onChange.set { cache.invalidate([Self.url]) }
        save(in: cache)
        cache.flush()
        #expect(cache.match(Self.url, .init()) == nil)
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `an invalidation of another URL hinders neither storing nor updating`(place: CacheLab.Place) throws {
        let (cache, store) = try cache(place)
        store.onChange.set { cache.invalidate(["http://b:80/"]) }
        save(in: cache)
        cache.flush()
        let match = try #require(cache.match(Self.url, .init()))
        let epoch = cache.epoch
        store.onChange.set { cache.invalidate(["http://b:80/"]) }
        _ = cache.update(match, Self.response("\"b\""), epoch: epoch)
        cache.flush()
        #expect(cache.match(Self.url, .init())?.response == Self.response("\"b\""))
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `a response is not updated after an invalidation that comes just before`(place: CacheLab.Place) throws {
        let (cache, store) = try cache(place)
        save(in: cache)
        cache.flush()
        let match = try #require(cache.match(Self.url, .init()))
        let epoch = cache.epoch
        store.onChange.set {
            cache.invalidate([Self.url])
            // The same again: what is stored does not tell that it was invalidated.
            save(in: cache)
        }
        _ = cache.update(match, Self.response("\"b\""), epoch: epoch)
        cache.flush()
        #expect(cache.match(Self.url, .init())?.response == match.response)
    }

    @Test(arguments: CacheLab.Place.allCases)
    func `removing a URL removes the responses of each socket, and of requests that are under way`(
        place: CacheLab.Place
    ) throws {
        let (cache, _) = try cache(place)
        let sockets: [String?] = [nil, "/run/a.sock", "/run/b c.sock"]
        let (url, other) = (try HTTPURL("http://a/"), try HTTPURL("http://a/other"))
        let urls = sockets.map { url.cacheURL(socketPath: $0) }
        let others = sockets.map { other.cacheURL(socketPath: $0) }
        let epoch = cache.epoch
        for url in urls + others {
            cache.save(Self.response("\"a\""), .bytes(.init()), for: url, .init(), epoch: epoch)
        }
        cache.flush()
        for url in urls + others { #expect(cache.match(url, .init()) != nil) }
        try cache.remove("http://a/")
        for url in urls + others {
            cache.save(Self.response("\"b\""), .bytes(.init()), for: url, .init(), epoch: epoch)
        }
        cache.flush()
        for url in urls { #expect(cache.match(url, .init()) == nil) }
        for url in others { #expect(cache.match(url, .init())?.response == Self.response("\"b\"")) }
    }

    @Test func `an invalidation during a change in memory removes what that stores`() throws {
        let (cache, store) = try cache(.memory)
        let invalidation = Observed<LabThread?>(nil)
        store.onWrite.set {
            let epoch = cache.epoch
            guard let thread = try? LabThread({ cache.invalidate([Self.url]) }) else { return }
            invalidation.update { $0 = thread }
            while cache.epoch == epoch { sched_yield() }
            // Without exclusion, the removal comes first.
            for _ in 0..<10_000 where store.removals.value == 0 { sched_yield() }
        }
        save(in: cache)
        try #require(invalidation.value).join()
        #expect(cache.match(Self.url, .init()) == nil)
    }
}

/// A closure that is called once.
private final class Hook: Sendable {
    private let closure = Observed<(@Sendable () -> Void)?>(nil)

    func set(_ closure: @escaping @Sendable () -> Void) { self.closure.update { $0 = closure } }

    func call() {
        let taken = closure.value
        guard let taken else { return }
        closure.update { $0 = nil }
        taken()
    }
}

/// A store that calls closures before it is changed.
private final class HookedStore: CacheStore {
    /// Called when a cache begins a change.
    let onChange = Hook()
    /// Called before a response is stored.
    let onWrite = Hook()
    let removals = Observed(0)
    private let store: any CacheStore

    init(_ store: any CacheStore) { self.store = store }

    var blocks: Bool {
        onChange.call()
        return store.blocks
    }
    var size: Int { store.size }
    var maximumEntrySize: Int { store.maximumEntrySize }

    func read(_ key: CacheKey) -> CacheEntry? { store.read(key) }

    func write(_ record: CacheRecord, _ body: NewCachedBody, under key: CacheKey) {
        onWrite.call()
        store.write(record, body, under: key)
    }

    func update(_ entry: CacheEntry) { store.update(entry) }

    func remove(_ key: CacheKey) {
        store.remove(key)
        removals.update { $0 += 1 }
    }

    func removeAll(of key: CacheKey) { store.removeAll(of: key) }

    func removeAll() { store.removeAll() }

    func makeSpilledBody() -> SpilledBody? { store.makeSpilledBody() }
}
