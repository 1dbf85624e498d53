/// Limits the number of requests in flight, to one host or in all, while requests that waited for a path are released.
///
/// After an outage the limit is one request, the probe. Its response makes it eight, and it then grows until the server
/// reports overload:
///
/// | event | before the first overload | after it |
/// |---|---|---|
/// | response head | +1 (doubles per round trip) | per round trip half the gap to the known limit, then +1, +2, … |
/// | first overload of a round trip | known limit = window - 1, window = 0.97 × known limit | the same |
/// | further overload in that round trip | known limit - 1, window = 0.97 × known limit | the same |
///
/// A round trip ends with the first result of an attempt that was started after the last reduction; results of earlier
/// attempts don't make the window grow. If overloads reduce the window to one, it starts over, with two after the probe.
/// docs/decisions/0008 lists the alternatives.
///
/// The owner counts the requests in flight. It calls ``settle()`` when no request waits, and no request that the window
/// released is in flight or backs off: from then on requests arrive at their own rate. The window of a session, which
/// covers those of all hosts, should treat every response as a success: an overloaded host says nothing about the path
/// to it.
struct ReleaseWindow: Sendable, Hashable {
    /// The limit, including its fraction; infinite while the window is not in effect.
    private var width: Double = .infinity
    /// The window at the last overload, less one for each overload; infinite before the first one.
    private var knownLimit: Double = .infinity
    /// The growth per round trip above the known limit; before that, the growth by the probe's response.
    private var step: Double = 1
    /// The number of the next attempt.
    private var next: UInt32 = 0
    /// The first attempt number whose result applies to the window's current size.
    private var cut: UInt32 = 0

    /// The window after the response to the first probe.
    ///
    /// TCP starts a connection with up to ten packets for the same reason: it saves round trips, and is too little to
    /// overload anybody (RFC 6928).
    private static let afterProbe = 8.0
    private static let small = 16.0
    /// The part of the known limit that is left after an overload.
    private static let overload = 0.97

    /// Creates a window that is not in effect.
    init() {}

    /// The maximum number of requests in flight; `Int.max` while the window is not in effect.
    var limit: Int { isInEffect ? Int(width) : .max }

    /// Whether the window limits requests.
    var isInEffect: Bool { width < .infinity }

    /// Whether the window admits only one request, as the probe.
    var isProbing: Bool { width == 1 && knownLimit == .infinity }

    /// Whether the window is still small, after the probe and before the first overload.
    var isSmall: Bool { width <= Self.small && knownLimit == .infinity && !isProbing }

    /// Starts the window over after an outage of the path or of the host: with one request, and more once it gets a
    /// response.
    ///
    /// Results of attempts that were started before are ignored.
    ///
    /// - Parameter first: The number of requests that may be sent immediately; more than one if they use different
    ///   routes.
    mutating func outage(first: Int = 1) {
        startOver()
        width = Double(max(1, first))
        step = Self.afterProbe - 1
        cut = next
    }

    /// Ends the limit, since no request waits any more.
    mutating func settle() {
        startOver()
        width = .infinity
    }

    /// Returns the number of the attempt that is started now.
    mutating func started() -> UInt32 {
        defer { next &+= 1 }
        return next
    }

    /// Records a response head for an attempt.
    mutating func succeeded(_ ticket: UInt32) {
        guard isInEffect, isCurrent(ticket) else { return }
        width = min(width + growth, Double(Int32.max))
    }

    /// Records that an attempt was rejected because of overload: status 429 or 503, or a refused connection.
    mutating func overloaded(_ ticket: UInt32) {
        guard isInEffect else { return }
        if isCurrent(ticket) {
            knownLimit = width - 1
            cut = next
        } else if knownLimit < .infinity {
            knownLimit -= 1
        } else {
            return
        }
        step = 1
        width = knownLimit * Self.overload
        if width <= 1 { startOver() }
    }

    /// The growth for one success.
    private var growth: Double {
        mutating get {
            if isProbing { return step }
            if knownLimit == .infinity { return 1 }
            if width < knownLimit { return max(1, (knownLimit - width) / 2) / width }
            defer { step += step / width }  // So it doubles in a round trip.
            return step / width
        }
    }

    private mutating func startOver() {
        width = 1
        knownLimit = .infinity
        step = 1
    }

    private func isCurrent(_ ticket: UInt32) -> Bool { Int32(bitPattern: ticket &- cut) >= 0 }
}

/// The random delay of a free slot of a ``ReleaseWindow``, so that waiting requests are neither sent in bursts nor in
/// step with other machines that lost the same path.
///
/// There is a delay only while the window is small: later requests follow responses, which are as far apart as the first
/// requests were. The probe has none, since it shows whether there is a path at all. The maximum is a quarter of the probe's
/// round trip.
struct SlotJitter: Sendable, Hashable {
    /// The exclusive upper bound of the delay, in nanoseconds.
    private var bound: UInt32 = 0

    /// Creates a jitter without delay, for a path whose round-trip time is unknown.
    init() {}

    /// Creates a jitter from the round-trip time of the probe.
    init(roundTrip: Duration) {
        bound = UInt32(clamping: min(max(0, roundTrip.clampedNanoseconds) / 4, Self.longest))
    }

    /// A quarter of a second, in nanoseconds: a slow response to the probe must not delay all other requests.
    private static let longest: Int64 = 250_000_000

    /// Returns the time for which a slot that is free now stays empty.
    func delay(in window: ReleaseWindow, using generator: inout some RandomNumberGenerator) -> Duration {
        guard bound > 0, window.isSmall else { return .zero }
        return .nanoseconds(Int64(UInt32.random(in: 0..<bound, using: &generator)))
    }
}
