import Dispatch
import Glibc
import Locking
import NIOCore
import NIOPosix
import NetworkClientCore

/// A private cache of responses, by the rules of RFC 9111 and RFC 5861.
///
/// ```swift
/// let cache = try HTTPCache(folder: "/var/cache/agent")
/// let session = try HTTPSession(configuration: .init(cache: cache))
/// ```
/// Several sessions may share a cache, and several processes a folder. All members can be used from any thread.
public final class HTTPCache: Sendable {
    /// The folder; nil for a cache in memory.
    public let folder: String?
    /// The maximum number of bytes that it uses.
    public let limit: Int

    let store: any CacheStore
    /// The queue on which a folder is changed.
    let queue = DispatchQueue(label: "cache")
    /// The current time in seconds since 1970.
    let now: @Sendable () -> Int64
    private let state = Lock(State())
    /// Held while a store in memory is changed.
    private let changes = Lock(())

    private struct State {
        /// The number of changes by URL that are still to be made.
        var pending: [String: Int] = [:]
        /// The URLs whose responses are being validated in the background.
        var revalidating: Set<String> = []
        /// The number of invalidations.
        var epoch = 0
        /// The latest invalidations, in order.
        var invalidations: [Invalidation] = []

        /// Counts an invalidation.
        mutating func invalidate(_ invalidation: Invalidation) {
            epoch += 1
            if invalidations.count == HTTPCache.rememberedInvalidations { invalidations.removeFirst() }
            invalidations.append(invalidation)
        }
    }

    /// The responses that are invalidated.
    private enum Invalidation {
        case everything
        /// Those that are stored under some URLs.
        case urls(Set<String>)
        /// Those of a URL, through any socket and with any virtual host.
        case location(String)

        /// Returns whether the responses that are stored under a URL are among them.
        func includes(_ url: String) -> Bool {
            switch self {
            case .everything: true
            case .urls(let urls): urls.contains(url)
            case .location(let location): CacheKey.location(of: url) == location
            }
        }
    }

    /// The number of invalidations that are known.
    private static let rememberedInvalidations = 64

    /// Creates a cache in memory.
    ///
    /// - Parameter memory: The maximum number of bytes. The entries unused for longest are removed first. A response of more than
    ///   a quarter of it is not stored.
    public convenience init(memory: Int = 16 << 20) {
        self.init(CacheMemory(limit: memory), folder: nil, limit: memory) { Int64(time(nil)) }
    }

    /// Opens a cache in a folder, which is created with permissions for its owner only (0700) if its parent exists.
    ///
    /// A response is stored while it is received. It is written by the time ``flush()`` returns, or soon afterwards without that.
    /// Nothing is synchronized to the disk: what a power failure damages is recognized, and requested again.
    ///
    /// - Parameters:
    ///   - folder: The path. Without permission to write, stored responses are used, and no others are stored.
    ///   - limit: The maximum number of bytes on the disk. The entries unused for longest are removed first. A response of more
    ///     than a quarter of it is not stored.
    /// - Throws: `fileFailed` if it is no folder, can't be created, belongs to another user, or can be written by others.
    public convenience init(folder: String, limit: Int = 256 << 20) throws(HTTPError) {
        try self.init(folder: folder, limit: limit) { Int64(time(nil)) }
    }

    /// Opens a cache in a folder, with a clock.
    convenience init(folder: String, limit: Int, now: @escaping @Sendable () -> Int64) throws(HTTPError) {
        self.init(try CacheFolder(folder, limit: limit), folder: folder, limit: limit, now: now)
    }

    /// Creates a cache with a clock.
    init(_ store: any CacheStore, folder: String?, limit: Int, now: @escaping @Sendable () -> Int64) {
        (self.store, self.folder, self.limit, self.now) = (store, folder, limit, now)
    }

    /// The number of bytes that it uses.
    public var size: Int {
        flush()
        return store.size
    }

    /// Removes the stored responses of a URL, including those that were received through a Unix socket or requested with a
    /// `Host` field.
    ///
    /// - Parameter url: The absolute URL, with http or https.
    /// - Throws: `invalidURL`.
    public func remove(_ url: String) throws(HTTPError) {
        let location = try HTTPURL(url).cacheURL(socketPath: nil)
        state.withLock { $0.invalidate(.location(location)) }
        // All lookups wait for it, as the socket of each may be among the removed ones.
        change("") { $0.removeAll(of: .init(location)) }
    }

    /// Removes all responses.
    public func removeAll() {
        state.withLock { $0.invalidate(.everything) }
        change("") { $0.removeAll() }
    }

    /// Waits until everything is written; blocks the thread.
    public func flush() { if store.blocks { queue.sync {} } }
}

/// A stored response that matches a request.
struct CachedMatch: Sendable {
    let url: String
    let entry: CacheEntry
    let response: CachedResponse
}

extension HTTPCache {
    /// Looks for the response to a request, and calls a closure with it on the event loop; immediately for a cache in memory.
    func find(
        _ url: String,
        _ fields: CachedFields,
        on loop: any EventLoop,
        _ done: @escaping @Sendable (CachedMatch?) -> Void
    ) {
        guard store.blocks else { return done(match(url, fields)) }
        let search: @Sendable () -> Void = { [self] in
            let match = match(url, fields)
            loop.execute { done(match) }
        }
        // What was stored before is found.
        if state.withLock({ $0.pending[url] ?? $0.pending[""] }) != nil { return queue.async(execute: search) }
        NIOThreadPool.singleton.submit { _ in search() }
    }

    /// Returns the stored response that matches a request; may block.
    func match(_ url: String, _ fields: CachedFields) -> CachedMatch? {
        guard let entry = store.read(.init(url)), entry.record.url == url else { return nil }
        guard case .variants(let names, let generation) = entry.record.content else { return match(url, entry, by: []) }
        let key = CacheKey(url, names, generation: generation, fields)
        guard let variant = store.read(key), variant.record.url == url else { return nil }
        return match(url, variant, by: names)
    }

    /// Returns the response of an entry that was found by some fields of the request; nil if it depends on others, for example
    /// since a 304 has made it private.
    private func match(_ url: String, _ entry: CacheEntry, by names: [String]) -> CachedMatch? {
        guard let response = entry.record.response, VaryRules.names(of: response) == names else { return nil }
        return .init(url: url, entry: entry, response: response)
    }

    /// A number that changes with each invalidation: a response to an earlier request is not stored after one of its URL.
    var epoch: Int { state.withLock { $0.epoch } }

    /// Returns whether the responses of a URL may have been invalidated since an epoch.
    func mayBeInvalidated(_ url: String, since epoch: Int) -> Bool {
        state.withLock { state in
            let count = state.epoch - epoch
            guard count <= state.invalidations.count else { return true }
            return state.invalidations.suffix(count).contains { $0.includes(url) }
        }
    }

    /// Stores a response, unless its URL was invalidated since its request.
    func save(
        _ response: CachedResponse,
        _ body: NewCachedBody,
        for url: String,
        _ request: CachedFields,
        epoch: Int
    ) {
        change(url) { [self] store in
            guard !mayBeInvalidated(url, since: epoch) else { return }
            let names = VaryRules.names(of: response)
            var key = CacheKey(url)
            if !names.isEmpty {
                let generation = Self.generation(of: names, url, in: store)
                key = CacheKey(url, names, generation: generation, request)
            }
            store.write(.init(url: url, .response(response)), body, under: key)
        }
    }

    /// Returns the number that belongs to the keys of the variants of a URL.
    ///
    /// It changes with an invalidation, so that earlier variants are not found again.
    private static func generation(of names: [String], _ url: String, in store: any CacheStore) -> UInt64 {
        if let entry = store.read(.init(url)), entry.record.url == url,
            case .variants(names, let generation) = entry.record.content
        {
            return generation
        }
        let generation = UInt64.random(in: 0...UInt64.max)
        let record = CacheRecord(url: url, .variants(names, generation: generation))
        store.write(record, .bytes(.init()), under: .init(url))
        return generation
    }

    /// Stores a validated response, unless it was invalidated or replaced since the request was sent.
    func update(_ match: CachedMatch, _ response: CachedResponse, epoch: Int) -> CachedMatch {
        var entry = match.entry
        entry.record.content = .response(response)
        let (earlier, updated) = (match.entry, entry)
        change(match.url) { [self] store in
            guard !mayBeInvalidated(earlier.record.url, since: epoch),
                store.read(earlier.key)?.record == earlier.record
            else { return }
            store.update(updated)
        }
        return .init(url: match.url, entry: entry, response: response)
    }

    /// Removes the responses of URLs.
    func invalidate(_ urls: Set<String>) {
        guard !urls.isEmpty else { return }
        state.withLock { $0.invalidate(.urls(urls)) }
        for url in urls { change(url) { $0.remove(.init(url)) } }
    }

    /// Removes an entry that is damaged.
    func discard(_ match: CachedMatch) { change(match.url) { $0.remove(match.entry.key) } }

    /// Changes what is stored; changes exclude each other.
    ///
    /// An invalidation counts before it removes anything: a change that does not find it counted is followed by the removal.
    private func change(_ url: String, _ body: @escaping @Sendable (any CacheStore) -> Void) {
        guard store.blocks else { return changes.withLock { _ in body(store) } }
        state.withLock { $0.pending[url, default: 0] += 1 }
        queue.async { [self] in
            body(store)
            state.withLock { state in
                let count = state.pending[url] ?? 1
                state.pending[url] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// Records that a response is validated in the background; returns whether it was not yet.
    func beginRevalidation(_ url: String) -> Bool { state.withLock { $0.revalidating.insert(url).inserted } }

    func endRevalidation(_ url: String) { state.withLock { _ = $0.revalidating.remove(url) } }
}

extension HTTPCache: CustomStringConvertible, CustomReflectable {
    /// The place, and the limit.
    public var description: String { "HTTPCache(\(folder ?? "memory"), at most \(limit) bytes)" }

    /// A mirror with the place and the limit: stored responses may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["folder": folder as Any, "limit": limit]) }
}

extension HTTPURL {
    /// Returns the URL under which responses are stored: without fragment and user information, and followed by the socket.
    ///
    /// The URL itself has no spaces: the text up to the first one is the same through each socket.
    func cacheURL(socketPath: String?) -> String {
        let socket = socketPath.map { " unix:\($0)" } ?? ""
        return "\(scheme)://\(host):\(port)\(target)\(socket)"
    }
}
