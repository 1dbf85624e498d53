import CZlib
import Crypto
import NIOCore
import NetworkClientCore

/// The name under which something is stored: a digest, so that no URL, cookie or credential is in the name of a file.
struct CacheKey: Sendable, Hashable {
    /// 64 hexadecimal digits.
    let text: String

    /// The number of digits that all keys of a location have in common.
    private static let locationDigits = 16

    /// Creates the key of a URL, which a socket and a virtual host may follow.
    ///
    /// Its first digits depend on the location only, so that responses are found by that.
    init(_ url: String) {
        let (location, digits) = (Self.location(of: url), Self.digest(of: url))
        let first = location.endIndex == url.endIndex ? digits : Self.digest(of: String(location))
        text = "\(first.prefix(Self.locationDigits))\(digits.dropFirst(Self.locationDigits))"
    }

    /// Creates a key from its digits; nil unless there are 64.
    init?(digits: String) {
        guard digits.utf8.count == 64 else { return nil }
        text = digits
    }

    /// Creates the key of a response that depends on fields of the request.
    init(_ url: String, _ names: [String], generation: UInt64, _ fields: CachedFields) {
        text = Self.digest(of: "\(url)\n\(generation)\n\(VaryRules.key(names, of: fields))")
    }

    /// Returns the part of a URL before the socket and the virtual host.
    static func location(of url: String) -> Substring {
        url[..<(url.utf8.firstIndex(of: UInt8(ascii: " ")) ?? url.endIndex)]
    }

    /// Returns whether the location is that of another key of a URL.
    func hasLocation(of other: Self) -> Bool {
        text.prefix(Self.locationDigits) == other.text.prefix(Self.locationDigits)
    }

    /// Returns the digest of a text: 64 hexadecimal digits.
    private static func digest(of text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        for byte in SHA256.hash(data: Array(text.utf8)) {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
        return String(decoding: bytes, as: UTF8.self)
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
    /// Removes what is stored under the keys of URLs with the same location.
    func removeAll(of key: CacheKey)
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
