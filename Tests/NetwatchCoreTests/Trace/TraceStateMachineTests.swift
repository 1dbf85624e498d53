import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing

@Suite struct TraceStateMachineTests {
    private static func router(_ number: Int) -> IPAddress { SimulatedPath.router(number) }

    @Test func `a path whose hops all answer costs a probe each`() {
        let trace = SimulatedTrace(.init(routers: 4, end: .destination))
        #expect(trace.verdict == .reached(hops: 5, roundTrip: .milliseconds(10)))
        #expect(trace.probes.map(\.probe.hop) == [1, 2, 3, 4, 5])
        #expect(trace.hops.map(\.number) == [1, 2, 3, 4, 5])
        #expect(trace.hops.map(\.answer?.address) == [1, 2, 3, 4].map(Self.router) + [SimulatedPath.destination])
    }

    @Test func `a slow path is probed several hops at a time`() {
        let trace = SimulatedTrace(.init(routers: 4, end: .destination, delay: .milliseconds(100)))
        #expect(trace.verdict == .reached(hops: 5, roundTrip: .milliseconds(500)))
        let gaps = zip(trace.probes, trace.probes.dropFirst()).map { $0.sent.duration(to: $1.sent) }
        #expect(gaps.prefix(4).allSatisfy { $0 == .milliseconds(50) })
    }

    @Test func `nothing is sent beyond the destination once it has answered`() throws {
        let trace = SimulatedTrace(.init(routers: 2, end: .destination, silent: [1], delay: .milliseconds(100)))
        let end = try #require(trace.end)
        #expect(end.hop == 3)
        #expect(trace.probes.contains { $0.probe.hop > 3 && $0.sent < end.time })
        #expect(!trace.probes.contains { $0.probe.hop > 3 && $0.sent > end.time })
    }

    @Test func `a silent router gets three probes, which do not hold up the trace`() {
        let trace = SimulatedTrace(.init(routers: 4, end: .destination, silent: [2]))
        #expect(trace.verdict == .reached(hops: 5, roundTrip: .milliseconds(10)))
        #expect(trace.count(to: 2) == 3)
        #expect(trace.hops.map { $0.answer == nil } == [false, true, false, false, false])
        #expect(trace.duration < .seconds(1))
    }

    @Test func `thirty silent hops take a few seconds and three probes each`() {
        let trace = SimulatedTrace(.init(routers: 2, end: .silence))
        #expect(trace.verdict == .silentBeyond(Self.router(2), hop: 2))
        #expect(trace.silentHops == 3...30)
        #expect(trace.probes.count == 2 + 28 * 3)
        #expect(trace.duration < .seconds(6))
    }

    @Test func `a path of which nothing answers is silent`() {
        let trace = SimulatedTrace(.init(routers: 3, end: .silence, silent: [1, 2, 3]))
        #expect(trace.verdict == .silent)
        #expect(trace.silentHops == 1...30)
        #expect(trace.hops.isEmpty)
    }

    @Test func `a router that gives up on ARP is waited for`() {
        let trace = SimulatedTrace(.init(routers: 3, end: .unreachable))
        #expect(trace.verdict == .rejected(.hostUnreachable, by: Self.router(3), hop: 3))
        #expect(trace.hops.map(\.number) == [1, 2, 3, 4])
    }

    @Test func `a loop is named and not followed`() {
        let trace = SimulatedTrace(.init(routers: 4, end: .loop))
        #expect(trace.verdict == .loop([Self.router(3), Self.router(4)], hop: 3))
        #expect(trace.probes.count == 6)
    }

    @Test func `a loop of which one router answers is named too`() {
        let trace = SimulatedTrace(.init(routers: 4, end: .loop, silent: [3]))
        #expect(trace.verdict == .loop([Self.router(4)], hop: 4))
    }

    @Test func `an address that answers at two hops is no loop`() {
        var machine = TraceStateMachine(to: SimulatedPath.destination, deadline: .init(nanoseconds: 60_000_000_000))
        let now = Instant(nanoseconds: 0)
        for (position, router) in [1, 2, 1, 3].enumerated() {
            let probe = TraceProbe(hop: position + 1, attempt: 1, size: 60)
            #expect(machine.stepAfterReports(at: now) == .send(probe))
            machine.receive(.icmp(.timeExceeded, from: Self.router(router)), to: probe, at: now)
        }
        #expect(machine.stepAfterReports(at: now) == .send(.init(hop: 5, attempt: 1, size: 60)))
    }

    @Test func `a smaller MTU shrinks the probes, and is reported`() throws {
        var settings = TraceSettings()
        settings.size = 1500
        let path = SimulatedPath(routers: 4, end: .destination, narrowLink: (hop: 2, mtu: 1300))
        let trace = SimulatedTrace(path, settings)
        #expect(trace.verdict == .reached(hops: 5, roundTrip: .milliseconds(10)))
        #expect(trace.narrowing == .init(address: Self.router(2), mtu: 1300))
        #expect(trace.probes.map(\.probe.size) == [1500, 1500, 1500, 1300, 1300, 1300])
    }

    @Test func `an MTU that cannot be is a rejection`() {
        var settings = TraceSettings()
        settings.size = 1500
        let path = SimulatedPath(routers: 4, end: .destination, narrowLink: (hop: 2, mtu: 20))
        let trace = SimulatedTrace(path, settings)
        #expect(trace.verdict == .rejected(.packetTooBig(mtu: 20), by: Self.router(2), hop: 2))
    }

    @Test func `routers up to the largest number of hops are no end`() {
        var settings = TraceSettings()
        settings.maximumHops = 3
        #expect(
            SimulatedTrace(.init(routers: 9, end: .silence), settings).verdict == .tooFar(last: Self.router(3), hop: 3)
        )
    }

    @Test func `a deadline ends the trace with what is known`() {
        let trace = SimulatedTrace(.init(routers: 2, end: .silence), deadline: .milliseconds(500))
        #expect(trace.verdict == .timeUp(last: Self.router(2), hop: 2))
        #expect(trace.duration == .milliseconds(500))
    }

    @Test(
        arguments: [
            (.neighborUnreachable, .neighborSilent), (.refused(errno: 101), .noPath(errno: 101)),
            (.response(.accepted), .reached(hops: 1, roundTrip: .milliseconds(4))),
            (.icmp(.prohibited, from: SimulatedPath.destination), .reached(hops: 1, roundTrip: .milliseconds(4))),
            (.icmp(.prohibited, from: router(7)), .rejected(.prohibited, by: router(7), hop: 1)),
            (.icmp(.portUnreachable, from: router(7)), .rejected(.portUnreachable, by: router(7), hop: 1)),
        ] as [(TraceOutcome, TraceVerdict)]
    )
    func `one outcome decides the trace`(outcome: TraceOutcome, verdict: TraceVerdict) throws {
        var machine = TraceStateMachine(to: SimulatedPath.destination, deadline: .init(nanoseconds: 60_000_000_000))
        let start = Instant(nanoseconds: 0)
        guard case .send(let probe) = machine.next(at: start) else { return #expect(Bool(false), "no probe") }
        let end = start.advanced(by: .milliseconds(4))
        machine.receive(outcome, to: probe, at: end)
        #expect(machine.stepAfterReports(at: end) == .finish(verdict))
    }

    @Test func `a rejection does not count once a router behind it has answered`() {
        var machine = TraceStateMachine(to: SimulatedPath.destination, deadline: .init(nanoseconds: 60_000_000_000))
        let start = Instant(nanoseconds: 0)
        let later = start.advanced(by: .milliseconds(50))
        guard case .send(let first) = machine.next(at: start), case .send(let second) = machine.next(at: later) else {
            return #expect(Bool(false), "no probes")
        }
        machine.receive(.icmp(.prohibited, from: Self.router(1)), to: first, at: later)
        machine.receive(.icmp(.timeExceeded, from: Self.router(2)), to: second, at: later)
        #expect(machine.stepAfterReports(at: later) == .send(.init(hop: 3, attempt: 1, size: 60)))
    }

    @Test func `answers to probes that were never sent change nothing`() {
        var machine = TraceStateMachine(to: SimulatedPath.destination, deadline: .init(nanoseconds: 60_000_000_000))
        let now = Instant(nanoseconds: 0)
        for hop in [-1, 0, 1, 31, .max] {
            machine.receive(.response(.datagram), to: .init(hop: hop, attempt: 1, size: 60), at: now)
        }
        #expect(machine.next(at: now) == .send(.init(hop: 1, attempt: 1, size: 60)))
    }

    @Test func `every trace ends, within its packets and its time, with the right result`() {
        var generator = SeededGenerator(seed: 22)
        for story in 0..<1000 {
            let path = generator.path()
            var settings = TraceSettings()
            settings.maximumHops = Int.random(in: 1...64, using: &generator)
            let trace = SimulatedTrace(path, settings, seed: UInt64(story))
            #expect(!trace.isStuck, "\(path)")
            #expect((1...settings.maximumHops).allSatisfy { trace.count(to: $0) <= 3 }, "\(path)")
            #expect(trace.duration < .seconds(8), "\(path)")
            #expect(trace.hops.map(\.number) == Array(1..<(trace.hops.count + 1)), "\(path)")
            if let end = trace.end {
                #expect(!trace.probes.contains { $0.sent > end.time && $0.probe.hop > end.hop }, "\(path)")
            }
            #expect(path.allows(trace.verdict, settings), "\(path): \(trace.verdict)")
        }
    }
}

extension TraceStateMachine {
    fileprivate mutating func stepAfterReports(at now: Instant) -> Step {
        var step = next(at: now)
        while case .report = step { step = next(at: now) }
        return step
    }
}

extension SeededGenerator {
    fileprivate mutating func path() -> SimulatedPath {
        let routers = Int.random(in: 0...20, using: &self)
        var path = SimulatedPath(
            routers: routers,
            end: SimulatedPath.End.allCases.randomElement(using: &self) ?? .silence
        )
        path.silent = Set((0..<Int.random(in: 0...4, using: &self)).map { _ in Int.random(in: 1...21, using: &self) })
        path.loss = [0, 0, 10, 40, 90].randomElement(using: &self) ?? 0
        path.delay = .microseconds(Int.random(in: 10...40_000, using: &self))
        return path
    }
}

extension SimulatedPath {
    /// Whether a verdict is right: the only one where every packet arrives, and otherwise none that says more than is so.
    fileprivate func allows(_ verdict: TraceVerdict, _ settings: TraceSettings) -> Bool {
        switch verdict {
        // The destination answers to probes with a larger time to live too, if the ones before are lost.
        case .reached(let hops, _): end == .destination && (isClean ? hops == routers + 1 : hops > routers)
        case .rejected(let error, let router, _):
            end == .unreachable && error == .hostUnreachable && router == Self.router(max(1, routers))
        case .loop: end == .loop && routers > 1
        case .tooFar(let last, let hop):
            hop == settings.maximumHops && (last == Self.router(hop) || end == .loop)
                && (hop <= routers || end == .loop)
        case .silentBeyond(let last, let hop):
            (last == Self.router(hop) || end == .loop) && !(isClean && isWithin(settings) && end == .destination)
        case .silent: !(isClean && isWithin(settings) && end == .destination)
        default: false
        }
    }

    private var isClean: Bool { loss == 0 }

    private func isWithin(_ settings: TraceSettings) -> Bool { routers < settings.maximumHops }
}
