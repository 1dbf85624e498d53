import NetwatchCore
import NetworkLab
import ReachabilityCore

/// A path to a destination, as a story has it: what becomes of a probe follows from its hop and a generator.
struct SimulatedPath {
    /// What is behind the last router.
    enum End: CaseIterable {
        /// The destination, which answers.
        case destination
        /// Nothing that answers.
        case silence
        /// The last router says that the host is unreachable.
        case unreachable
        /// The last two routers send packets to each other.
        case loop
    }

    static let destination = IPAddress(ipv4: 0xCB00_7107)

    var routers: Int
    var end: End
    /// The hops that never answer.
    var silent: Set<Int> = []
    /// The part of the packets that is lost, in percent.
    var loss = 0
    /// The time that one link takes.
    var delay = Duration.milliseconds(2)
    /// The size that a link takes, by the hop before it.
    var narrowLink: (hop: Int, mtu: Int)?

    static func router(_ number: Int) -> IPAddress { .init(ipv4: 0x0A00_0000 + UInt32(number)) }

    /// Returns the outcome of a probe and the time that it takes; nil if there is none.
    func outcome(of probe: TraceProbe, _ generator: inout SeededGenerator) -> (TraceOutcome, Duration)? {
        guard Int.random(in: 0..<100, using: &generator) >= loss else { return nil }
        let time = delay * min(probe.hop, routers + 1)
        if let narrowLink, probe.hop > narrowLink.hop, probe.size > narrowLink.mtu {
            let error = ICMPError.packetTooBig(mtu: UInt32(narrowLink.mtu))
            return (.icmp(error, from: Self.router(narrowLink.hop)), time)
        }
        guard let number = answeringHop(probe.hop) else { return behind(time) }
        return silent.contains(number) ? nil : (.icmp(.timeExceeded, from: Self.router(number)), time)
    }

    /// The router at which a probe expires; nil if it gets behind the last one.
    private func answeringHop(_ hop: Int) -> Int? {
        if hop <= routers { return hop }
        guard end == .loop, routers > 1 else { return nil }
        return (hop - routers).isMultiple(of: 2) ? routers : routers - 1
    }

    private func behind(_ time: Duration) -> (TraceOutcome, Duration)? {
        switch end {
        case .destination: (.icmp(.portUnreachable, from: Self.destination), time)
        case .unreachable: (.icmp(.hostUnreachable, from: Self.router(max(1, routers))), time + .milliseconds(3050))
        case .silence, .loop: nil
        }
    }
}

/// A trace of a simulated path, played to its end without waiting.
struct SimulatedTrace {
    private(set) var hops: [TraceHop] = []
    private(set) var probes: [(probe: TraceProbe, sent: Instant)] = []
    private(set) var verdict = TraceVerdict.silent
    private(set) var silentHops: ClosedRange<Int>?
    private(set) var narrowing: TraceHop.Narrowing?
    private(set) var duration = Duration.zero
    /// The hop and the time of the first answer of the destination.
    private(set) var end: (hop: Int, time: Instant)?
    /// Whether the machine asked for a wait into the past, or for more steps than a trace can have.
    private(set) var isStuck = false

    private struct Arrival {
        var time: Instant
        var probe: TraceProbe
        var outcome: TraceOutcome
    }

    init(
        _ path: SimulatedPath,
        _ settings: TraceSettings = .init(),
        deadline: Duration = .seconds(60),
        seed: UInt64 = 1
    ) {
        let start = Instant(nanoseconds: 1_000_000_000)
        var generator = SeededGenerator(seed: seed)
        var machine = TraceStateMachine(
            to: SimulatedPath.destination,
            settings,
            deadline: start.advanced(by: deadline)
        )
        var now = start
        var arrivals: [Arrival] = []
        for step in 0... {
            isStuck = step > 5000
            if isStuck { return }
            switch machine.next(at: now) {
            case .send(let probe):
                probes.append((probe, now))
                guard let (outcome, time) = path.outcome(of: probe, &generator) else { continue }
                arrivals.append(.init(time: now.advanced(by: time), probe: probe, outcome: outcome))
                arrivals.sort { $0.time < $1.time }
            case .report(let hop): hops.append(hop)
            case .wait(let limit):
                isStuck = limit <= now
                if isStuck { return }
                guard let first = arrivals.first, first.time <= limit else {
                    now = limit
                    continue
                }
                now = max(now, first.time)
                if end == nil, case .icmp(.portUnreachable, _) = first.outcome { end = (first.probe.hop, now) }
                machine.receive(first.outcome, to: first.probe, at: now)
                arrivals.removeFirst()
            case .finish(let verdict):
                self.verdict = verdict
                silentHops = machine.silentHops
                narrowing = machine.narrowing
                duration = start.duration(to: now)
                return
            }
        }
    }

    /// The number of probes to a hop.
    func count(to hop: Int) -> Int { probes.count { $0.probe.hop == hop } }
}
