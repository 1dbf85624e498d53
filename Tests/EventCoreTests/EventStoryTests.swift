import EventCore
import Glibc
import NetworkLab
import Testing

/// Random stories of a service and its readers: nothing may be lost, duplicated or reordered without a gap that says so.
///
/// `NETWATCH_SEEDS` sets the number of stories; `NETWATCH_SEED` tells only one.
@Suite struct EventStoryTests {
    private static let parts = 8

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    @Test(arguments: 0..<8) func `random stories lose, double and reorder nothing without a gap`(part: UInt64) {
        let count = Self.number("NETWATCH_SEEDS") ?? 10_000
        let only = Self.number("NETWATCH_SEED").map { $0...$0 }
        var tally = StoryTally()
        for seed in only ?? 0...(count - 1) where only != nil || seed % 8 == part {
            var story = EventStory(seed: seed)
            story.play()
            #expect(story.fault == nil, "seed \(seed): \(story.fault ?? "")")
            if story.fault != nil { return }
            tally.add(story.tally)
        }
        guard only == nil, count >= 1000 else { return }
        #expect(tally.missing == [])
    }
}

/// The kinds of things that happened in stories, so that a test without the interesting ones fails.
struct StoryTally {
    private var counts: [String: Int] = [:]

    private static let all = [
        "event", "state", "latest", "gap slow", "gap expired", "gap unknown", "resumed", "restarted",
    ]

    mutating func note(_ what: String) { counts[what, default: 0] += 1 }

    mutating func add(_ other: Self) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The kinds that never happened.
    var missing: [String] { Self.all.filter { counts[$0] == nil } }
}

/// One story: a log of a few events, and readers that come, read, stall, drop their connection and resume.
struct EventStory {
    private var random: SeededGenerator
    private var log: EventLog<UInt64>
    private var readers: [Reader] = []
    private(set) var tally = StoryTally()
    private(set) var fault: String?

    /// A reader, with what it believes.
    private struct Reader {
        var cursor: EventCursor?
        let mode: EventCursor.Mode
        /// The id that it resumes after: the last that it received.
        var last: EventID?
        /// Whether it may receive the state without a gap: it begins.
        var begins = true
    }

    init(seed: UInt64) {
        random = .init(seed: seed)
        log = .init(run: random.next(), capacity: .random(in: 1...6, using: &random))
    }

    mutating func play() {
        for _ in 0..<Int.random(in: 5...60, using: &random) where fault == nil { step() }
        publish()
        // In the end all read everything, and none may lack something.
        for index in readers.indices where fault == nil {
            connect(index)
            read(index, atMost: .max)
            if readers[index].last != log.newestID {
                fault = "reader \(index) ends at \(readers[index].last, default: "-")"
            }
        }
    }

    private mutating func step() {
        let index = readers.isEmpty ? nil : Int.random(in: 0..<readers.count, using: &random)
        switch (Int.random(in: 0..<20, using: &random), index) {
        case (0..<3, _) where readers.count < 4: subscribe()
        case (3..<9, _), (_, nil): publish()
        case (9..<16, let index?): read(index, atMost: .random(in: 1...4, using: &random))
        case (16..<18, let index?): readers[index].cursor = nil
        case (18, _): restart()
        case (_, let index?): connect(index)
        }
    }

    private mutating func subscribe() {
        readers.append(.init(cursor: nil, mode: Bool.random(using: &random) ? .all : .latest))
        connect(readers.count - 1)
    }

    /// Publishes; an event's content is its number, so that a wrong one is seen.
    private mutating func publish() {
        for _ in 0..<Int.random(in: 1...5, using: &random) { log.append(log.newest + 1) }
    }

    /// The service starts again: its log is empty, and all connections are cut.
    private mutating func restart() {
        tally.note("restarted")
        log = .init(run: random.next(), capacity: log.capacity)
        for index in readers.indices { readers[index].cursor = nil }
    }

    private mutating func connect(_ index: Int) {
        guard readers[index].cursor == nil else { return }
        let reader = readers[index]
        readers[index].begins = reader.last == nil
        if reader.last != nil { tally.note("resumed") }
        let start = reader.last.map { EventCursor.Start.after($0) } ?? .now
        readers[index].cursor = .init(start, mode: reader.mode, in: log)
    }

    private mutating func read(_ index: Int, atMost limit: Int) {
        var count = 0
        while fault == nil, count < limit, let delivery = readers[index].cursor?.next(in: log) {
            count += 1
            check(delivery, readers[index])
            switch delivery {
            case .event(let id, _), .state(let id, _): readers[index].last = id
            }
            readers[index].begins = false
        }
    }

    private mutating func check(_ delivery: EventDelivery<UInt64>, _ reader: Reader) {
        switch delivery {
        case .event(let id, let content):
            tally.note("event")
            let follows = reader.last.map { $0.run == id.run && $0.sequence + 1 == id.sequence } ?? false
            if !follows || content != id.sequence || id.run != log.run {
                fault = "\(id) with \(content) after \(reader.last, default: "-")"
            }
        case .state(let id, let gap?): checkGap(gap, id, reader)
        case .state(let id, nil):
            tally.note(reader.mode == .latest ? "latest" : "state")
            if id != log.newestID { fault = "the state is of \(id)" }
            let isNewer = reader.last.map { $0.run != id.run || $0.sequence < id.sequence } ?? true
            if !reader.begins, reader.mode == .all || !isNewer { fault = "a state at \(id) without a gap" }
        }
    }

    private mutating func checkGap(_ gap: EventGap, _ id: EventID, _ reader: Reader) {
        tally.note("gap \(gap.reason.rawValue)")
        let isOfThisRun = reader.last?.run == log.run
        let missed = isOfThisRun ? reader.last.map { log.newest - $0.sequence } : nil
        let isKept = isOfThisRun && reader.last.map { log.event($0.sequence + 1) != nil || $0 == log.newestID } ?? false
        // An id that had expired when its reader resumed stays so, whatever the log still has.
        let isDue = gap.reason == .unknown ? !isOfThisRun : !isKept
        if gap.from != reader.last || gap.missed != missed || !isDue || id != log.newestID || reader.begins {
            fault = "\(gap) to \(id) after \(reader.last, default: "-")"
        }
    }
}
