/// The state of an item that has not ended.
public enum ItemState: Int64, Sendable, Hashable, CaseIterable {
    /// It waits for its turn, a path, a pause to end or its time.
    case waiting = 0
    /// A byte of it may be on the network.
    case sending = 1
    /// The user holds it back.
    case held = 2
}

/// The end of an item.
public enum ItemEnd: Int64, Sendable, Hashable, CaseIterable {
    /// The server accepted it: a confirmed response with a status of 2xx.
    case delivered = 0
    /// The server rejected it, or its body is lost.
    case refused = 1
    /// Its lifetime ended before it was delivered.
    case expired = 2
    /// The user cancelled it.
    case cancelled = 3
    /// It was removed to make space, or by the user's command.
    case dropped = 4
    /// It may have been processed, and must not be resent.
    case uncertain = 5
    /// Its row or its file is damaged.
    case damaged = 6
}

/// The importance of a lane, which decides what happens when the outbox is full.
public enum LaneClass: Int64, Sendable, Hashable, CaseIterable {
    /// The oldest items are dropped to make space for new ones.
    case bulk = 0
    /// New items are refused.
    case normal = 1
    /// New items are refused, later than those of other lanes.
    case critical = 2
}

/// The order in which a lane sends its items.
public enum LaneOrder: Sendable, Hashable {
    /// One at a time, in the order in which they were added.
    ///
    /// An item that fails, and that has attempts left, is set aside so that the next can be sent; in strict order the
    /// lane waits for it.
    case ordered(isStrict: Bool)
    /// Up to a number of items at the same time.
    case unordered(width: Int)

    /// The number of items that are sent at the same time.
    package var width: Int {
        switch self {
        case .ordered: 1
        case .unordered(let width): max(width, 1)
        }
    }

    /// Whether an item that must wait holds back those behind it.
    package var isStrict: Bool { self == .ordered(isStrict: true) }
}
