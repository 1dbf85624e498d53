/// What becomes of a request whose destination can't be reached.
public enum GatePolicy: Sendable, Hashable {
    /// It is tried at once, and fails as the network lets it fail.
    case goesAtOnce
    /// It waits until there is a path to its destination, in all its waits together no longer than a time; nil for as
    /// long as its deadline allows.
    case waitsForConnectivity(Duration?)

    /// Whether requests wait at all.
    public var waits: Bool { self != .goesAtOnce }
}

/// What becomes of a running request under which the path goes away.
public enum PathLossPolicy: Sendable, Hashable {
    /// Its connection is given up as soon as its path is lost for certain, long before TCP would notice.
    case failFast
    /// Its connection is kept for so long, in case the path comes back as it was, and given up then.
    case waitInFlight(Duration)
}

/// In which order requests leave that have waited; within one, the first come is the first out.
///
/// A request that waits grows more urgent by one step in each half minute, so that nobody starves.
public enum RequestPriority: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// After all others: prefetching, reports that nobody waits for.
    case low
    /// The usual.
    case normal
    /// Before all others: what a person waits for.
    case high

    /// Orders from low to high.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
