import ReachabilityCore

/// Lets messages gather during a storm of unimportant ones, as network cards moderate their interrupts.
///
/// A thousand containers that start cost mostly the waking up, once for each message or two. After several wake-ups in
/// a row that brought nothing of importance, the next comes 4 to 16 ms later, and what matters with it; after one that
/// did, at once.
struct Moderation: Sendable {
    private var streak = 0
    private var last = Instant(nanoseconds: 0)

    /// Wake-ups that come further apart are no storm.
    private static let gap = Duration.milliseconds(20)
    /// How many wake-ups for nothing make a storm.
    private static let patience = 8
    /// Messages gather by themselves if there are as many at once.
    private static let enough = 32
    /// How long to let them gather at first; the socket's buffer holds more than comes meanwhile.
    private static let pause = Duration.milliseconds(4)
    /// A storm that goes on gathers longer, up to so many times the first pause.
    private static let longest = 4
    /// How many wake-ups for nothing make the pause longer by its first length.
    private static let step = 32

    /// Notes a wake-up; says until when to let messages gather.
    ///
    /// - Parameters:
    ///   - count: How many messages it brought; none, and it is not counted.
    ///   - isImportant: Whether one of them may alter the verdict.
    ///   - now: The moment.
    /// - Returns: nil to listen at once.
    mutating func note(_ count: UInt64, isImportant: Bool, at now: Instant) -> Instant? {
        guard count > 0 else { return nil }
        let isStorm = !isImportant && last.duration(to: now) < Self.gap
        streak = isStorm ? streak + 1 : 0
        last = now
        guard streak >= Self.patience, count < Self.enough else { return nil }
        return now.advanced(by: Self.pause * min(1 + streak / Self.step, Self.longest))
    }
}
