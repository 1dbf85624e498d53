/// How a request is handled while there is no path to its destination.
public enum GatePolicy: Sendable, Hashable {
    /// It is tried immediately, and fails with the error that the network reports.
    case startsImmediately
    /// It waits until there is a path to its destination. The duration limits the sum of its waits; with nil, only the
    /// deadline of the request does.
    case waitsForConnectivity(Duration?)

    /// Whether requests wait for a path.
    public var waits: Bool { self != .startsImmediately }
}

/// How a running request is handled when its path is lost.
public enum PathLossPolicy: Sendable, Hashable {
    /// Its connection is closed as soon as the path is known to be lost, long before TCP would detect it.
    case failFast
    /// Its connection is kept for the duration in case the path returns unchanged, and is closed after that.
    case waitInFlight(Duration)
}

/// The priority of a waiting request.
///
/// Requests of equal priority are sent in the order in which they arrived.
///
/// The priority of a waiting request rises by one step every 30 seconds, which prevents starvation.
public enum RequestPriority: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Sent after all others: for prefetching and background reports.
    case low
    /// The default.
    case normal
    /// Sent before all others: for requests that a user is waiting for.
    case high

    /// Orders priorities from low to high.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
