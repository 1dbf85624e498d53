import ReachabilityCore

/// Lets messages gather during a storm of unimportant ones, as network cards moderate their interrupts.
///
/// When a thousand containers start, most of the cost is waking up, once for each message or two. After several wake-ups
/// in a row without an important message, the next comes 4 to 16 ms later, and the important ones with it; after a
/// wake-up with an important one, the next follows immediately.
struct Moderation: Sendable {
    private var streak = 0
    private var last = Instant(nanoseconds: 0)

    /// Wake-ups that are further apart are no storm.
    private static let maximumGap = Duration.milliseconds(20)
    /// The number of unimportant wake-ups in a row that make a storm.
    private static let stormThreshold = 8
    /// The number of messages in a wake-up from which on they gather by themselves.
    private static let sufficientMessages = 32
    /// The first pause of a storm; the socket's buffer holds more than arrives in it.
    private static let pause = Duration.milliseconds(4)
    /// The longest pause, in lengths of the first.
    private static let maximumPauses = 4
    /// The number of unimportant wake-ups that make the pause longer by the length of the first.
    private static let wakeupsPerPause = 32

    /// Notes a wake-up.
    ///
    /// - Parameters:
    ///   - count: The number of its messages; a wake-up without messages is not counted.
    ///   - isImportant: Whether one of them may change the evaluation.
    ///   - now: The current time.
    /// - Returns: Until when to let messages gather; nil to listen immediately.
    mutating func note(_ count: UInt64, isImportant: Bool, at now: Instant) -> Instant? {
        guard count > 0 else { return nil }
        let isStorm = !isImportant && last.duration(to: now) < Self.maximumGap
        streak = isStorm ? streak + 1 : 0
        last = now
        guard streak >= Self.stormThreshold, count < Self.sufficientMessages else { return nil }
        return now.advanced(by: Self.pause * min(1 + streak / Self.wakeupsPerPause, Self.maximumPauses))
    }
}

/// Limits how often the watched destinations are looked up while changes keep coming.
struct WatchPacing: Sendable {
    /// Whether a change may have made the known paths stale.
    private(set) var isStale = false
    /// When the next lookup may be made; nil for immediately.
    private(set) var next: Instant?
    private var last = Instant(nanoseconds: 0)
    /// The number of lookups in a row without a pause.
    private var streak = 0

    /// The interval of lookups in a storm.
    private static let interval = Duration.milliseconds(5)
    /// The number of lookups in a row before the limit applies: a link that comes up makes a few changes, of which the
    /// last counts.
    private static let burst = 4
    /// The pause after which a storm is over.
    private static let pause = Duration.milliseconds(20)

    /// Notes that routes may have changed.
    mutating func invalidate() { isStale = true }

    /// Notes that there are other destinations, which are to be looked up immediately.
    mutating func restart() {
        isStale = true
        next = nil
    }

    /// Whether to look up now; if so, it is noted.
    mutating func begin(at now: Instant) -> Bool {
        guard isStale, next.map({ $0 <= now }) ?? true else { return false }
        isStale = false
        streak = last.duration(to: now) < Self.pause ? streak + 1 : 1
        last = now
        next = streak < Self.burst ? nil : now.advanced(by: Self.interval)
        return true
    }
}
