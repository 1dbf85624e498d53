/// By how much a free slot of a ``ReleaseWindow`` is delayed, so that what waited does not leave in bursts, nor in step
/// with other machines that lost the same path.
///
/// Only while the window doubles, and never the first probe: that one tells whether there is a path at all. The bound is
/// a quarter of the probe's round trip, so that growth takes an eighth longer and throughput afterwards nothing.
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
