import Dispatch
import Locking
import NIOCore
import NetworkClientCore
import Synchronization

/// The body of a response on its way into a cache; nothing is stored unless it is committed.
///
/// Unchecked, because everything except constants is used on the event loop of its request only.
final class CacheWriter: @unchecked Sendable {
    private let cache: HTTPCache
    private let epoch: Int
    private var kept = ByteBuffer()
    private var spilled: Spill?
    private var count = 0
    private var hasFailed = false

    /// A file, and the number of bytes that wait to be written to it.
    private final class Spill: Sendable {
        let body: SpilledBody
        let waiting = Atomic(0)

        init(_ body: SpilledBody) { self.body = body }
    }

    /// The number of bytes that may wait for the disk: with more, the response is not stored, and not delayed either.
    private static let maximumWaiting = 8 << 20

    init(_ cache: HTTPCache, epoch: Int) { (self.cache, self.epoch) = (cache, epoch) }

    /// Appends bytes as they are received.
    func append(_ bytes: ByteBuffer) {
        guard !hasFailed else { return }
        count += bytes.readableBytes
        guard count <= cache.store.maximumEntrySize else { return drop() }
        if let spilled { return write(bytes, to: spilled) }
        kept.writeImmutableBuffer(bytes)
        guard cache.store.blocks, count > CacheFolder.inlineLimit else { return }
        guard let body = cache.store.makeSpilledBody() else { return drop() }
        let spill = Spill(body)
        spilled = spill
        write(kept, to: spill)
        kept = ByteBuffer()
    }

    private func write(_ bytes: ByteBuffer, to spill: Spill) {
        let size = bytes.readableBytes
        let (_, waiting) = spill.waiting.add(size, ordering: .relaxed)
        guard waiting <= Self.maximumWaiting else { return drop() }
        cache.queue.async {
            spill.body.append(bytes)
            spill.waiting.subtract(size, ordering: .relaxed)
        }
    }

    private func drop() {
        hasFailed = true
        kept = ByteBuffer()
        discard()
    }

    /// Removes what was written, on the cache's queue: a file may be on a disk that hangs.
    private func discard() {
        guard let spilled else { return }
        self.spilled = nil
        cache.queue.async { spilled.body.discard() }
    }

    deinit { discard() }

    /// Stores the response, whose body is complete.
    func commit(_ response: CachedResponse, to url: String, _ request: CachedFields) {
        guard !hasFailed else { return }
        var response = response
        response.fields.replace("Content-Length", with: "\(count)")
        let body: NewCachedBody = spilled.map { .file($0.body) } ?? .bytes(kept)
        spilled = nil
        cache.save(response, body, for: url, request, epoch: epoch)
    }
}
