/// How many requests may be under way at once while those go out that waited for a path: to one host, or in all.
///
/// After an outage it is one, a probe, and then grows until the other side refuses:
///
/// | what comes | before the first refusal | after it |
/// |---|---|---|
/// | a head of an answer | +1 (doubles in each round trip) | half of what lacks to the known limit in each round trip;
/// past it +1, +2, +4 … |
/// | a refusal, first of its round trip | the known limit is what it was - 1, the window × 0.85 of that | the same |
/// | a further refusal of that round trip | the known limit - 1, the window × 0.85 of that | the same |
///
/// A round trip ends with the first word of an attempt that was started after the last cut; what comes of earlier ones
/// does not let it grow. If refusals bring it down to one, it begins again. decisions/0008 has what this was chosen
/// from.
///
/// The owner counts what is under way, and calls ``settle()`` when nobody waits in its line and nothing that the window
/// let go is under way or backs off: what comes then comes at its own pace. A session's window, which stands over those
/// of the hosts, should take every answer for a success: a host that refuses says nothing of the way to it.
struct ReleaseWindow: Sendable, Hashable {
    /// The limit, with its fraction; infinite while not in effect.
    private var width: Double = .infinity
    /// How many were under way when it was last refused; infinite before that.
    private var known: Double = .infinity
    /// What it gains in a round trip beyond the known limit.
    private var step: Double = 1
    /// The number of the next attempt.
    private var next: UInt32 = 0
    /// The number from which on attempts tell something about the window as it is now.
    private var cut: UInt32 = 0

    private static let overload = 0.85

    /// Not in effect.
    init() {}

    /// How many may be under way; `Int.max` while not in effect.
    var limit: Int { isInEffect ? Int(width) : .max }

    /// Whether there is a limit.
    var isInEffect: Bool { width < .infinity }

    /// Whether one request alone tries the way.
    var isProbing: Bool { width == 1 && known == .infinity }

    /// Whether it grows as fast as it can: before the first refusal.
    var isDoubling: Bool { isInEffect && known == .infinity }

    /// The path, or the host, was away: one may go now, and more once it is answered.
    ///
    /// What comes of attempts that were started before does not count.
    ///
    /// - Parameter first: How many may go at once; more than one where they go different ways.
    mutating func outage(first: Int = 1) {
        beginAnew()
        width = Double(max(1, first))
        cut = next
    }

    /// Nobody waits any more: no longer in effect.
    mutating func settle() {
        beginAnew()
        width = .infinity
    }

    /// Gives the attempt that is started now its number.
    mutating func started() -> UInt32 {
        defer { next &+= 1 }
        return next
    }

    /// The head of an answer came for an attempt.
    mutating func succeeded(_ ticket: UInt32) {
        guard isInEffect, isCurrent(ticket) else { return }
        width = min(width + growth, Double(Int32.max))
    }

    /// An attempt was refused because there were too many: 429, 503, or nobody took the connection.
    mutating func overloaded(_ ticket: UInt32) {
        guard isInEffect else { return }
        if isCurrent(ticket) {
            known = width - 1
            cut = next
        } else if known < .infinity {
            known -= 1
        } else {
            return
        }
        step = 1
        width = known * Self.overload
        if width <= 1 { beginAnew() }
    }

    /// What one success adds.
    private var growth: Double {
        mutating get {
            if known == .infinity { return 1 }
            if width < known { return max(1, (known - width) / 2) / width }
            defer { step += step / width }  // So it doubles in a round trip.
            return step / width
        }
    }

    private mutating func beginAnew() {
        width = 1
        known = .infinity
        step = 1
    }

    private func isCurrent(_ ticket: UInt32) -> Bool { Int32(bitPattern: ticket &- cut) >= 0 }
}

/// By how much a free slot of a ``ReleaseWindow`` is delayed, so that what waited does not leave in bursts, nor in step
/// with other machines that lost the same path.
///
/// Only while the window doubles, and never the first probe: that one tells whether there is a path at all. The bound
/// is a quarter of the probe's round trip, so that growth takes an eighth longer and throughput afterwards nothing.
struct SlotJitter: Sendable, Hashable {
    /// Nanoseconds that no delay reaches.
    private var bound: UInt32 = 0

    /// No delay: nothing is known of the way yet.
    init() {}

    /// Takes the bound from how long the probe's answer took.
    init(roundTrip: Duration) {
        bound = UInt32(clamping: min(max(0, roundTrip.clampedNanoseconds) / 4, Self.longest))
    }

    /// A quarter of a second: a probe that took long, since the server was slow, must not hold all others back.
    private static let longest: Int64 = 250_000_000

    /// How long a slot that is free now stays empty.
    func delay(in window: ReleaseWindow, using generator: inout some RandomNumberGenerator) -> Duration {
        guard bound > 0, window.isDoubling, !window.isProbing else { return .zero }
        return .nanoseconds(Int64(UInt32.random(in: 0..<bound, using: &generator)))
    }
}
