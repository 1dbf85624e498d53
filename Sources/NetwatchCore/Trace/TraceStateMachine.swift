package import ReachabilityCore

/// How a trace goes about.
package struct TraceSettings: Sendable, Hashable {
    /// The largest number of hops.
    package var maximumHops = 30
    /// The size of UDP probes, as IP packets, in bytes.
    package var size = Self.defaultSize

    /// A size that every link carries.
    package static let defaultSize = 60
    /// The hops that can be asked for: 64 is the time to live with which most machines send.
    package static let hopLimits = 1...64
    /// The sizes that can be asked for.
    package static let sizes = 64...65535
    /// The number of probes that a hop gets at most.
    package static let maximumAttempts = 3

    /// Creates settings.
    package init() {}

    /// The maximum time that the next hop waits for the reply of the one before, until it is probed anyway.
    static let hopInterval = Duration.milliseconds(50)
    /// The time without a reply after which the hop is probed again, or counts as silent.
    ///
    /// A router says that a host does not answer on its link after the three seconds that ARP takes: the third probe's time
    /// is up after 3.6 s.
    static let answerTimeout = Duration.milliseconds(1200)
    /// The least of these times, once hops behind have answered.
    static let shortestTimeout = Duration.milliseconds(100)
}

/// Decides which probe of a trace is sent when, when a hop is silent, and what the answers mean.
///
/// Hops are probed one after the other without waiting long: the next one when the hop before has answered, or 50 ms after it
/// was probed. A hop without an answer is probed again up to twice. Nothing is sent beyond the end of the path once that is
/// known. Time is passed in.
package struct TraceStateMachine: Sendable {
    /// The next step.
    package enum Step: Sendable, Hashable {
        /// Send a probe.
        case send(TraceProbe)
        /// Show a hop; they come in their order.
        case report(TraceHop)
        /// Wait for an outcome, until this time.
        case wait(until: Instant)
        /// Nothing: the trace has ended.
        case finish(TraceVerdict)
    }

    private let destination: IPAddress
    private let deadline: Instant
    private var hops: TraceHops
    private var sends: [Sends]
    private var size: Int
    /// The number of hops that were probed.
    private var frontier = 0
    /// The number of hops that were reported.
    private var reported = 0
    private var failure: TraceVerdict?
    private var isTimeUp = false

    /// The probes of one hop.
    private struct Sends: Hashable {
        /// When each was sent.
        var times: [Instant] = []
        /// Whether the last one was answered by nothing more than that it is too big.
        var isDue = false

        var isUsedUp: Bool { times.count >= TraceSettings.maximumAttempts }
    }

    /// Starts a trace.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - settings: How far to go, and with which packets.
    ///   - deadline: When the trace ends in any case.
    package init(to destination: IPAddress, _ settings: TraceSettings = .init(), deadline: Instant) {
        self.destination = destination
        self.deadline = deadline
        size = settings.size
        hops = TraceHops(limit: settings.maximumHops)
        sends = .init(repeating: .init(), count: hops.all.count)
    }

    /// Returns what is to be done next; a probe counts as sent then.
    package mutating func next(at now: Instant) -> Step {
        if let hop = takeReport(at: now) { return .report(hop) }
        if let verdict = verdict(at: now) { return .finish(verdict) }
        if let probe = takeProbe(at: now) { return .send(probe) }
        return .wait(until: wakeTime(at: now))
    }

    /// Takes the outcome of a probe.
    package mutating func receive(_ outcome: TraceOutcome, to probe: TraceProbe, at now: Instant) {
        guard failure == nil, hops.numbers.contains(probe.hop), let sent = time(of: probe) else { return }
        let roundTrip = max(.zero, sent.duration(to: now))
        switch outcome {
        case .response(let response):
            answer(probe.hop, .init(destination, .destination(.response(response)), roundTrip: roundTrip))
        case .icmp(.packetTooBig(let mtu), let router): shrink(probe, to: Int(mtu), router, roundTrip)
        case .icmp(let error, let sender):
            answer(probe.hop, .init(sender, meaning(of: error, from: sender), roundTrip: roundTrip))
        case .neighborUnreachable: fail(.neighborSilent)
        case .refused(let errno): fail(.noPath(errno: errno))
        }
    }

    private func time(of probe: TraceProbe) -> Instant? {
        let times = sends[probe.hop - 1].times
        return times.indices.contains(probe.attempt - 1) ? times[probe.attempt - 1] : nil
    }
}

// MARK: - Answers

extension TraceStateMachine {
    /// The meaning of an error for the path: the destination's own errors say that packets arrive.
    private func meaning(of error: ICMPError, from sender: IPAddress) -> TraceHop.Meaning {
        if error == .timeExceeded { return .router }
        return sender == destination ? .destination(.error(error)) : .rejection(error)
    }

    /// Takes the first answer of a hop, and of others only one from the destination.
    private mutating func answer(_ number: Int, _ answer: TraceHop.Answer) {
        var hop = hops[number]
        let isFirst = hop.answer == nil
        hop.answer = answer
        if isFirst || hop.isDestination { hops[number] = hop }
    }

    /// Takes the answer that a probe is too big: the next ones are smaller, as far as that can help.
    private mutating func shrink(_ probe: TraceProbe, to mtu: Int, _ router: IPAddress, _ roundTrip: Duration) {
        let number = probe.hop
        guard hops[number].answer == nil else { return }
        let isPlausible = mtu >= Self.smallestMTU(destination.family) && mtu < probe.size
        guard isPlausible, !sends[number - 1].isUsedUp else {
            let error = ICMPError.packetTooBig(mtu: UInt32(clamping: mtu))
            return answer(number, .init(router, .rejection(error), roundTrip: roundTrip))
        }
        size = min(size, mtu)
        hops[number].narrowing = .init(address: router, mtu: mtu)
        sends[number - 1].isDue = true
    }

    /// The size that every link has to carry: RFC 791, and RFC 8200, section 5.
    private static func smallestMTU(_ family: AddressFamily) -> Int { family == .ipv4 ? 68 : 1280 }

    /// Ends the trace if the machine cannot send, unless packets came somewhere before.
    private mutating func fail(_ verdict: TraceVerdict) {
        if hops.all.allSatisfy({ $0.answer == nil }) { failure = verdict }
    }
}

// MARK: - Probes

extension TraceStateMachine {
    /// The last hop that may be probed.
    private var limit: Int { hops.end ?? hops.all.count }

    private mutating func takeProbe(at now: Instant) -> TraceProbe? {
        let again = (1..<(min(frontier, limit) + 1)).first { isDueAgain($0, at: now) }
        guard let number = again ?? (isNextDue(at: now) ? frontier + 1 : nil) else { return nil }
        frontier = max(frontier, number)
        sends[number - 1].times.append(now)
        sends[number - 1].isDue = false
        return TraceProbe(hop: number, attempt: sends[number - 1].times.count, size: size)
    }

    private func isDueAgain(_ number: Int, at now: Instant) -> Bool {
        let own = sends[number - 1]
        guard hops[number].answer == nil, !own.isUsedUp else { return false }
        return own.isDue || timeUp(of: number).map { $0 <= now } ?? false
    }

    private func isNextDue(at now: Instant) -> Bool {
        guard frontier < limit else { return false }
        return nextHopTime.map { $0 <= now } ?? true
    }

    /// When the hop behind those that were probed is; nil for immediately.
    private var nextHopTime: Instant? {
        guard frontier > 0, hops[frontier].answer == nil else { return nil }
        return sends[frontier - 1].times.first?.advanced(by: TraceSettings.hopInterval)
    }

    /// When the answer to a hop's last probe has been waited for long enough; nil if there was none.
    ///
    /// Four round trips of the hops behind it are enough.
    private func timeUp(of number: Int) -> Instant? {
        let known = hops.roundTrip(behind: number).map { max($0 * 4, TraceSettings.shortestTimeout) }
        let timeout = min(known ?? TraceSettings.answerTimeout, TraceSettings.answerTimeout)
        return sends[number - 1].times.last?.advanced(by: timeout)
    }

    private func isSettled(_ number: Int, at now: Instant) -> Bool {
        if hops[number].answer != nil || isTimeUp { return true }
        let own = sends[number - 1]
        return own.isUsedUp && timeUp(of: number).map { $0 <= now } ?? false
    }

    private func wakeTime(at now: Instant) -> Instant {
        var times = [deadline]
        if frontier < limit, let next = nextHopTime { times.append(next) }
        for number in 1..<(min(frontier, limit) + 1) where !isSettled(number, at: now) {
            if let time = timeUp(of: number) { times.append(time) }
        }
        return times.min() ?? deadline
    }
}

// MARK: - Results

extension TraceStateMachine {
    /// The hops at the end of the path that were probed and did not answer, once the trace has ended; nil if there are none.
    package var silentHops: ClosedRange<Int>? {
        let last = min(frontier, limit)
        return failure == nil && reported < last ? reported + 1...last : nil
    }

    /// The answer with the smallest MTU that probes were too big; nil if there was none.
    package var narrowing: TraceHop.Narrowing? { hops.all.compactMap(\.narrowing).min { $0.mtu < $1.mtu } }

    /// The next hop to show.
    ///
    /// A silent hop is shown once one behind it has answered, or the trace is over: the silent hops at its end are told by
    /// the verdict.
    private mutating func takeReport(at now: Instant) -> TraceHop? {
        if now >= deadline { isTimeUp = true }
        guard failure == nil, reported < limit, isSettled(reported + 1, at: now) else { return nil }
        let hop = hops[reported + 1]
        guard hop.answer != nil || hops.roundTrip(behind: hop.number) != nil else { return nil }
        reported += 1
        return hop
    }

    private func verdict(at now: Instant) -> TraceVerdict? {
        if let failure { return failure }
        let numbers = 1...limit
        guard numbers.allSatisfy({ isSettled($0, at: now) }) else { return nil }
        return TraceVerdict(hops, isTimeUp: isTimeUp && hops.end == nil, probed: frontier)
    }
}
