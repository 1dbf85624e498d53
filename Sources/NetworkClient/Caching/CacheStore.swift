import CZlib
import Crypto
import NIOCore
import NetworkClientCore

/// The name under which something is stored: a digest, so that no URL, cookie or credential is in the name of a file.
struct CacheKey: Sendable, Hashable {
    /// 64 hexadecimal digits.
    let text: String

    /// Creates the key of a URL.
    init(_ url: String) { self.init(digestOf: url) }

    /// Creates the key of a response that depends on fields of the request.
    init(_ url: String, _ names: [String], generation: UInt64, _ fields: CachedFields) {
        self.init(digestOf: "\(url)\n\(generation)\n\(VaryRules.key(names, of: fields))")
    }

    private init(digestOf text: String) {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        for byte in SHA256.hash(data: Array(text.utf8)) {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
        self.text = String(decoding: bytes, as: UTF8.self)
    }
}

/// A stored response, or what else is under a key.
struct CacheEntry: Sendable {
    let key: CacheKey
    var record: CacheRecord
    let body: CachedBody
}

/// The body of a stored response, with the codings in which it was received.
enum CachedBody: Sendable {
    case bytes(ByteBuffer)
    /// A file of the cache, which has to be checked before it is used.
    case file(String)
}

/// The body of a response that is being stored.
enum NewCachedBody: Sendable {
    case bytes(ByteBuffer)
    case file(SpilledBody)
}

/// The places where a cache stores its entries; all members can be used from any thread.
protocol CacheStore: Sendable {
    /// Whether the members may wait for a disk.
    var blocks: Bool { get }
    /// The number of bytes that are used.
    var size: Int { get }
    /// The largest size of an entry, in bytes.
    var maximumEntrySize: Int { get }

    /// Returns what is stored under a key, and marks it as used; nil for nothing, or something damaged.
    func read(_ key: CacheKey) -> CacheEntry?
    /// Stores a record and its body under a key, in place of what is there.
    func write(_ record: CacheRecord, _ body: NewCachedBody, under key: CacheKey)
    /// Stores another record with the body of an entry.
    func update(_ entry: CacheEntry)
    func remove(_ key: CacheKey)
    func removeAll()
    /// Returns a file for a body that is too large for memory; nil if bodies are kept in memory, or there can be none.
    func makeSpilledBody() -> SpilledBody?
}

/// The checksum of stored bytes: CRC-32, from zlib.
struct BodyChecksum: Sendable {
    private(set) var value: UInt32 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let pointer = start.assumingMemoryBound(to: UInt8.self)
        value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), pointer, bytes.count))
    }

    static func of(_ buffer: ByteBuffer) -> UInt32 {
        var checksum = Self()
        buffer.withUnsafeReadableBytes { checksum.add($0) }
        return checksum.value
    }
}
