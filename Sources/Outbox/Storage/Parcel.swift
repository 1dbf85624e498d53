import Crypto
import OutboxCore

/// Items that are sent in one request: a single one, or a batch.
struct Parcel: Sendable {
    var items: [StoredItem]
    private(set) var batch: Int64?
    /// The key of the request.
    let key: String?
    /// The digest of a batch's key and lines; nil without a batch, or in rows of an earlier version.
    let digest: [UInt8]?

    init(_ item: StoredItem) {
        items = [item]
        key = item.key
        digest = nil
    }

    /// Creates a batch as it is stored.
    init(batch: Int64, key: String, digest: [UInt8]?, _ items: [StoredItem]) {
        (self.items, self.batch, self.key, self.digest) = (items, batch, key, digest)
    }

    /// Creates a batch that is not stored yet.
    init(newBatch items: [StoredItem], key: String) {
        (self.items, self.key) = (items, key)
        digest = Self.digest(of: items, key)
    }

    /// Returns a new batch with the number under which it is stored.
    func stored(as batch: Int64) -> Self {
        var parcel = self
        parcel.batch = batch
        return parcel
    }

    /// Whether each item is as it was stored, and a batch has the lines and the key with which it was composed.
    var isIntact: Bool {
        items.allSatisfy(\.isIntact) && (digest == nil || digest == Self.digest(of: items, key ?? ""))
    }

    /// The bodies of a batch, one in a line: a line break within JSON is only white space.
    var lines: [UInt8] { Self.lines(of: items) }

    private static func lines(of items: [StoredItem]) -> [UInt8] {
        var lines: [UInt8] = []
        for case .bytes(let bytes) in items.map(\.body) {
            lines += bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
            lines.append(0x0A)
        }
        return lines
    }

    private static func digest(of items: [StoredItem], _ key: String) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array("\(key)\n".utf8))
        hash.update(data: lines(of: items))
        return Array(hash.finalize())
    }

    /// The size of the bodies in bytes.
    var size: Int64 { items.reduce(0) { $0 + $1.size } }

    /// Whether the lifetime of an item of a batch has ended, which leaves the batch then, unless that may have been processed.
    func losesItems(at now: BoxTime) -> Bool {
        batch != nil && record.firstSent == nil
            && items.contains { item in item.record.expires.map { $0 <= now } == true }
    }

    /// The record that decides about all of them.
    var record: ItemRecord {
        var record = items[0].record
        guard batch != nil else { return record }
        record.hasKey = true
        record.expires = nil
        record.firstSent = items.compactMap(\.record.firstSent).min()
        return record
    }
}

/// The parcels that a lane may send.
struct LaneSupply: Sendable {
    var parcels: [Parcel] = []
    /// The time at which there may be more without another event.
    var next: BoxTime?
    /// Whether the lane has no further ones for now.
    var isComplete = false
}
