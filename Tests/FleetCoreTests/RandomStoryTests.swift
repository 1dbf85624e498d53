import EventCore
import FleetCore
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing

/// Random events of a machine, shuffled, doubled and with gaps, against a plain computation from all of them.
@Suite struct RandomStoryTests {
    private static let day: Double = 86_400

    /// The events of a few runs in order, times from 30 h ago until now, and whether the run follows within a minute.
    private static func events(_ generator: inout SeededGenerator) -> [EventReport] {
        let states: [ReachabilityStatus] = [.wifi, .wifi, .cellular, .notReachable, .unknown]
        var events: [EventReport] = []
        var time = -Double.random(in: 3_600...108_000, using: &generator)
        for run in 1...UInt64.random(in: 1...4, using: &generator) {
            for sequence in 1...UInt64.random(in: 1...40, using: &generator) {
                time += Double.random(in: 0.001...3_000, using: &generator).rounded()
                guard time < 0 else { return events }
                events.append(.init(run, sequence, states.randomElement(using: &generator) ?? .wifi, at: time))
            }
            time += Bool.random(using: &generator) ? 30 : 4_000
        }
        return events
    }

    private static func status(_ events: [EventReport], state: EventReport?) throws -> NodeStatus {
        var story = FleetStory()
        story.receive(.birth(), at: -1)
        for event in events { story.receive(.event(event), at: -1) }
        if let state { story.receive(.state(state), at: -1) }
        story.receive(.birth(), at: 0)
        story.wait(until: 0)
        return try story.node()
    }

    @Test(arguments: 0..<400) func `the order of arrival, doubles and repeated states change nothing`(seed: Int) throws
    {
        var generator = SeededGenerator(seed: UInt64(seed))
        let all = Self.events(&generator)
        guard let last = all.last else { return }
        // The last one always arrives, as the state says.
        let kept = all.dropLast().filter { _ in Int.random(in: 0..<10, using: &generator) > 0 } + [last]
        let mixed = (kept + kept.filter { _ in Bool.random(using: &generator) }).shuffled(using: &generator)
        let (plain, shuffled) = (try Self.status(kept, state: last), try Self.status(mixed, state: last))
        #expect(plain == shuffled)
        let oracle = FleetOracle(kept)
        #expect(plain.lost == oracle.lost && plain.backlog == 0 && plain.newest == last.id)
        #expect(plain.outages == oracle.outages)
        #expect(plain.availability == oracle.availability)
        #expect(abs(plain.uncovered.components.seconds - Int64(Self.day - oracle.known)) <= 1)
        #expect(plain.isFlapping == oracle.isFlapping)
    }

    @Test(arguments: 0..<100) func `every event is new once`(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(1_000 + seed))
        let all = Self.events(&generator)
        var (story, seen): (FleetStory, Set<EventReport>) = (.init(), [])
        for event in (all + all + all).shuffled(using: &generator) {
            let isNew = seen.insert(event).inserted
            #expect((story.receive(.event(event), at: 0) == .new) == isNew)
        }
    }
}

/// Availability, outages, flapping and gaps from a list of events, second by second.
private struct FleetOracle {
    private(set) var lost: UInt64 = 0
    private(set) var outages = 0
    private(set) var known = 0.0
    private(set) var isFlapping = false
    private var up = 0.0

    /// In hundredths of a per cent, rounded down; 10,000 only without an outage.
    var availability: Int? {
        guard known > 0 else { return outages > 0 ? 0 : nil }
        return outages == 0 ? 10_000 : min(Int(up / known * 10_000 + 1e-9), 9_999)
    }

    /// - Parameter events: In order, the last one still lasting.
    init(_ events: [EventReport]) {
        let times = events.map { Double($0.time.nanosecondsSinceEpoch - FleetStory.start * 1_000_000_000) / 1e9 }
        var spans: [(from: Double, until: Double, status: ReachabilityStatus)] = []
        for (index, event) in events.enumerated() {
            guard index + 1 < events.count else {
                spans.append((times[index], 0, event.status))
                break
            }
            let next = events[index + 1]
            let follows =
                next.id.run == event.id.run
                ? next.id.sequence == event.id.sequence + 1
                : next.id.sequence == 1 && times[index + 1] - times[index] <= 60
            let isInDay = times[index] >= -86_400
            if next.id.run == event.id.run, isInDay { lost += next.id.sequence - event.id.sequence - 1 }
            spans.append((times[index], follows ? times[index + 1] : times[index], event.status))
        }
        count(spans)
        isFlapping = Self.flapping(spans)
    }

    private mutating func count(_ spans: [(from: Double, until: Double, status: ReachabilityStatus)]) {
        var isOut = false
        for span in spans where span.until >= -86_400 {
            let length = span.until - max(span.from, -86_400)
            // A state that was left when the day began is not in it.
            guard length > 0 || span.from >= -86_400 else { continue }
            switch span.status {
            case .unknown: break
            case .notReachable:
                known += length
                outages += isOut ? 0 : 1
                isOut = true
            case .wifi, .cellular:
                known += length
                up += length
                isOut = false
            }
        }
    }

    /// Walks through the last day minute by minute.
    private static func flapping(_ spans: [(from: Double, until: Double, status: ReachabilityStatus)]) -> Bool {
        let states = spans.filter { ($0.until > -86_400 || $0.from >= -86_400) && $0.status != .unknown }
        let changes = zip(states, states.dropFirst()).filter { $0.status != $1.status }.map(\.1.from)
        var (recent, flapping): ([Double], Bool) = ([], false)
        for change in changes {
            if flapping, change - recent[recent.count - 1] >= 1_800 { (recent, flapping) = ([], false) }
            recent.append(change)
            if recent.filter({ change - $0 <= 3_600 }).count >= 5 { flapping = true }
        }
        return flapping && 0 - recent[recent.count - 1] < 1_800
    }
}
