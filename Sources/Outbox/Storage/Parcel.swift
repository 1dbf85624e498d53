import OutboxCore

/// Items that are sent in one request: a single one, or a batch.
struct Parcel: Sendable {
    var items: [StoredItem]
    var batch: Int64?
    /// The key of the request.
    var key: String?

    init(_ item: StoredItem) {
        items = [item]
        key = item.key
    }

    init(batch: Int64, key: String, _ items: [StoredItem]) {
        self.items = items
        self.batch = batch
        self.key = key
    }

    /// The size of the bodies in bytes.
    var size: Int64 { items.reduce(0) { $0 + $1.size } }

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
}
