public import ReachabilityCore

/// How available the network was over some time.
///
/// An outage lasts from the first moment at which it was known not to be reachable until it is known to be reachable
/// again. What is unknown is neither: it does not count in ``share``, begins and ends no outage, and does not lengthen
/// one.
public struct Availability: Sendable, Hashable {
    /// For how long it was reachable.
    public private(set) var up = Duration.zero
    /// For how long it was not.
    public private(set) var down = Duration.zero
    /// For how long neither is known.
    public private(set) var unknown = Duration.zero
    /// How many outages there were, those counted that had begun before or have not ended.
    public private(set) var outages = 0
    /// The length of the longest.
    public private(set) var longest = Duration.zero
    /// The length of the newest, so far.
    public private(set) var newest = Duration.zero
    /// Whether the newest has not ended.
    public private(set) var isOut = false
    /// When the last one that has ended did so.
    public private(set) var lastEnd: Instant?

    /// Nothing yet.
    public init() {}

    /// The part of the known time in which it was reachable, in hundredths of a per cent, rounded down; nil if nothing
    /// is known.
    ///
    /// It is 10,000 only if there was no outage at all.
    public var share: Int? {
        let (up, down) = (Self.nanoseconds(up), Self.nanoseconds(down))
        guard up > 0 || down > 0 else { return outages > 0 ? 0 : nil }
        if outages == 0 { return 10_000 }
        return min(Int(up * 10_000 / (up + down)), 9_999)
    }

    /// Adds a stretch of time in one state, which follows the one added before.
    public mutating func add(_ status: ReachabilityStatus, from start: Instant, to end: Instant) {
        let length = start.duration(to: max(start, end))
        switch status {
        case .unknown: unknown += length
        case .notReachable: addOutage(length)
        case .cellular, .wifi:
            up += length
            if isOut { (isOut, lastEnd) = (false, start) }
        }
    }

    private mutating func addOutage(_ length: Duration) {
        if !isOut {
            (isOut, newest) = (true, .zero)
            outages += 1
        }
        newest += length
        down += length
        longest = max(longest, newest)
    }

    private static func nanoseconds(_ duration: Duration) -> Int128 { duration.attoseconds / 1_000_000_000 }
}
