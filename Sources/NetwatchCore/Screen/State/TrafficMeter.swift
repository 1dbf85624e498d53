import ReachabilityCore

/// The traffic of the interfaces, as rates and as bars.
struct TrafficMeter: Sendable {
    private var last: [InterfaceIndex: TrafficCounters] = [:]
    private var lastMoment: Instant?
    /// The figures to show; none before an interface's second counters.
    private(set) var shown: [InterfaceIndex: Traffic] = [:]

    /// Takes counters.
    ///
    /// - Parameters:
    ///   - counters: The interfaces that there are, and no others.
    ///   - moment: When they were read.
    mutating func take(_ counters: [InterfaceIndex: TrafficCounters], at moment: Instant) {
        let interval = lastMoment.map { $0.duration(to: moment) } ?? .zero
        guard interval > .zero || lastMoment == nil else { return }
        var next: [InterfaceIndex: Traffic] = [:]
        for (index, counter) in counters {
            next[index] = shown[index]
            guard let before = last[index] else { continue }
            next[index, default: .init()].add(from: before, to: counter, in: interval)
        }
        (last, lastMoment, shown) = (counters, moment, next)
    }
}

/// The traffic of one interface.
struct Traffic: Sendable, Hashable {
    /// The receive rate.
    private var receivedRate: Double?
    /// The send rate.
    private var sentRate: Double?
    /// The heights of the last bars of what was received, the newest last; as of what follows, as many as are ever shown.
    private(set) var receivedBars: [UInt8] = []
    /// The same of what was sent.
    private(set) var sentBars: [UInt8] = []

    /// Received, as text.
    var received: String { receivedRate.map(AmountText.rate) ?? "" }

    /// Sent, as text.
    var sent: String { sentRate.map(AmountText.rate) ?? "" }

    /// The bars of both together.
    var bars: [UInt8] { zip(receivedBars, sentBars).map { max($0, $1) } }

    /// Counters that run back were reset: for once, nothing is known.
    mutating func add(from before: TrafficCounters, to after: TrafficCounters, in interval: Duration) {
        guard after.receivedBytes >= before.receivedBytes, after.sentBytes >= before.sentBytes else { return }
        let seconds = interval / .seconds(1)
        let received = Double(after.receivedBytes - before.receivedBytes) / seconds
        let sent = Double(after.sentBytes - before.sentBytes) / seconds
        (receivedRate, sentRate) = (Self.calmed(received, receivedRate), Self.calmed(sent, sentRate))
        Self.append(Self.height(received), to: &receivedBars)
        Self.append(Self.height(sent), to: &sentBars)
    }

    /// The rate that was shown before, if another differs by no more than a twentieth: a steady one reads the same.
    private static func calmed(_ rate: Double, _ shown: Double?) -> Double {
        guard let shown, abs(rate - shown) <= shown / 20 else { return rate }
        return shown
    }

    /// The height of a rate's bar: each step is ten times as much, so that a trickle looks the same each time.
    ///
    /// 0 for nothing, 1 to 1 kB/s, 2 to 10 kB/s, and so on; 7 from 100 MB/s.
    static func height(_ rate: Double) -> UInt8 {
        guard rate > 0 else { return 0 }
        var bound = 1000.0
        for height in UInt8(1)..<7 {
            if rate < bound { return height }
            bound *= 10
        }
        return 7
    }

    private static func append(_ bar: UInt8, to bars: inout [UInt8]) {
        if bars.count >= maximumBars { bars.removeFirst() }
        bars.append(bar)
    }

    /// As many as the widest picture has.
    static let maximumBars = 40
}
