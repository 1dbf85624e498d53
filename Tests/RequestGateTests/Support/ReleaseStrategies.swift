@testable import RequestGate

/// A strategy that releases the requests that waited through an outage.
protocol ReleaseStrategy {
    /// The maximum number of requests in flight.
    var limit: Int { get }
    /// Whether rejected requests are queued again, rather than backing off at the expense of the host's budget.
    var requeuesRejected: Bool { get }

    mutating func started() -> UInt32
    mutating func succeeded(_ ticket: UInt32)
    mutating func overloaded(_ ticket: UInt32)
}

/// Releases all requests when the network is back, as a plain queue does.
struct AllAtOnce: ReleaseStrategy {
    let limit = Int.max
    let requeuesRejected = false
    func started() -> UInt32 { 0 }
    func succeeded(_: UInt32) {}
    func overloaded(_: UInt32) {}
}

/// Slow start without a limit.
struct Doubling: ReleaseStrategy {
    private(set) var limit = 1
    let requeuesRejected = false
    func started() -> UInt32 { 0 }
    mutating func succeeded(_: UInt32) { limit += 1 }
    func overloaded(_: UInt32) {}
}

/// Grows additively, and shrinks at most once per round trip.
struct SimpleWindow: ReleaseStrategy {
    /// The growth: always one per success, or one per round trip after the first reduction.
    enum Growth { case onePerSuccess, onePerRoundTrip }

    let growth: Growth
    let requeuesRejected: Bool
    private var width = 1.0
    private var next: UInt32 = 0
    private var cut: UInt32 = 0
    private var wasCut = false

    init(_ growth: Growth, requeuesRejected: Bool = false) {
        self.growth = growth
        self.requeuesRejected = requeuesRejected
    }

    var limit: Int { Int(width) }

    mutating func started() -> UInt32 {
        defer { next += 1 }
        return next
    }

    mutating func succeeded(_: UInt32) { width += wasCut && growth == .onePerRoundTrip ? 1 / width : 1 }

    mutating func overloaded(_ ticket: UInt32) {
        guard ticket >= cut else { return }
        cut = next
        wasCut = true
        width = max(1, width * 0.85)
    }
}

/// The scheduler's own window.
struct Windowed: ReleaseStrategy {
    var window: ReleaseWindow
    var requeuesRejected: Bool { !window.isProbing }
    var limit: Int { window.limit }

    init() {
        window = ReleaseWindow()
        window.outage()
    }

    mutating func started() -> UInt32 { window.started() }
    mutating func succeeded(_ ticket: UInt32) { window.succeeded(ticket) }
    mutating func overloaded(_ ticket: UInt32) { window.overloaded(ticket) }
}
