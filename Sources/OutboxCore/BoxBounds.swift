/// The limits of an outbox.
package struct BoxBounds: Sendable, Hashable {
    /// The maximum number of items.
    package var items: Int
    /// The maximum size of all bodies in bytes.
    package var bytes: Int64
    /// The free space in bytes that is left on the file system.
    package var freeSpace: Int64

    package init(items: Int = 1_000_000, bytes: Int64 = 4 << 30, freeSpace: Int64 = 64 << 20) {
        self.items = items
        self.bytes = bytes
        self.freeSpace = freeSpace
    }
}

/// The contents of an outbox.
package struct BoxUsage: Sendable, Hashable {
    /// The number of items.
    package var items: Int
    /// The size of all bodies in bytes.
    package var bytes: Int64
    /// The free space on the file system in bytes.
    package var freeSpace: Int64

    package init(items: Int, bytes: Int64, freeSpace: Int64) {
        self.items = items
        self.bytes = bytes
        self.freeSpace = freeSpace
    }

    /// Returns the contents without some of the items.
    ///
    /// - Parameters:
    ///   - items: The number of the items.
    ///   - bytes: The size of their bodies.
    ///   - freed: The size of those bodies whose space the file system gets back: not that of rows of the database.
    /// - Returns: The contents.
    package func without(items: Int, bytes: Int64, freeing freed: Int64) -> Self {
        .init(
            items: self.items - items,
            bytes: self.bytes.subtractingClamped(bytes),
            freeSpace: freeSpace.addingClamped(freed)
        )
    }
}

/// The decision about a new item.
package enum Admission: Sendable, Hashable {
    /// It is stored.
    case accepted
    /// The oldest item of a bulk lane has to be dropped first; the decision is then made again.
    case dropsOldest(Limit)
    /// It is refused, since a limit is reached.
    case refused(Limit)

    /// A limit of an outbox.
    package enum Limit: Sendable, Hashable {
        case items
        case bytes
        case freeSpace
    }
}

extension BoxBounds {
    /// Decides about a new item.
    ///
    /// Normal lanes use up to nine tenths of each limit, so that critical lanes have space left; bulk lanes up to eight
    /// tenths. Items of bulk lanes are dropped for new items of any lane, unless the item would not fit into an empty
    /// outbox. For free space only those are of use whose bodies are files.
    ///
    /// - Parameters:
    ///   - size: The size of its body in bytes.
    ///   - importance: The class of its lane.
    ///   - usage: The contents of the outbox.
    ///   - hasBulkItems: Whether there is an item that may be dropped.
    /// - Returns: The decision.
    package func admission(of size: Int64, _ importance: LaneClass, _ usage: BoxUsage, hasBulkItems: Bool) -> Admission
    {
        guard let limit = exceeded(by: size, importance, usage) else { return .accepted }
        return hasBulkItems && mayEverFit(size, importance) ? .dropsOldest(limit) : .refused(limit)
    }

    /// Returns whether an item would fit into an empty outbox, if the file system had space for it.
    package func mayEverFit(_ size: Int64, _ importance: LaneClass) -> Bool {
        exceeded(by: size, importance, .init(items: 0, bytes: 0, freeSpace: .max / 2)) == nil
    }

    private func exceeded(by size: Int64, _ importance: LaneClass, _ usage: BoxUsage) -> Admission.Limit? {
        let tenths: Int64 =
            switch importance {
            case .bulk: 8
            case .normal: 9
            case .critical: 10
            }
        if Int64(usage.items) + 1 > max(Int64(items) / 10 * tenths + Int64(items) % 10 * tenths / 10, 1) {
            return .items
        }
        // The size may be any that an archive announces: nothing is added to it.
        if size > (bytes / 10 * tenths).subtractingClamped(usage.bytes) { return .bytes }
        return usage.freeSpace.subtractingClamped(size) < freeSpace ? .freeSpace : nil
    }
}
