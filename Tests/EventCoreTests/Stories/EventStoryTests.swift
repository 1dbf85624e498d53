import EventCore
import Glibc
import NetworkLab
import Testing

/// Random stories of a service and its readers: nothing may be lost, duplicated or reordered without a gap that says so.
///
/// `NETWATCH_SEEDS` sets the number of stories; `NETWATCH_SEED` tells only one.
@Suite struct EventStoryTests {
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
        "event", "event of the next run", "state", "latest", "gap slow", "gap expired", "gap unknown", "gap lost",
        "event after a gap", "page", "resumed", "restarted", "killed",
    ]

    mutating func note(_ what: String) { counts[what, default: 0] += 1 }

    mutating func add(_ other: Self) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The kinds that never happened.
    var missing: [String] { Self.all.filter { counts[$0] == nil } }
}

/// One story: a log of a few events, with a journal or without one, and readers that come, read, stall, drop their
/// connection and resume.
struct EventStory {
    private var random: SeededGenerator
    private var service: StoryService
    private var readers: [Reader] = []
    private(set) var tally = StoryTally()
    private(set) var fault: String?

    /// A reader, with what it believes.
    private struct Reader {
        var cursor: EventCursor<UInt64>?
        let mode: ReadMode
        /// The id that it resumes after: the last that it received.
        var last: EventID?
        /// Whether it may receive the state without a gap: it begins.
        var begins = true
        /// The event after which a page is being read for it.
        var page: EventID?
        /// Whether events were not stored yet when its last page was read.
        var mayLack = false
    }

    init(seed: UInt64) {
        random = .init(seed: seed)
        let run = random.next()
        let capacity = Int.random(in: 1...6, using: &random)
        service = .init(run: run, capacity: capacity, hasJournal: Bool.random(using: &random))
    }

    mutating func play() {
        for _ in 0..<Int.random(in: 5...60, using: &random) where fault == nil { step() }
        service.publish()
        service.store(.max)
        // In the end all read everything, and none may lack something.
        for index in readers.indices where fault == nil {
            connect(index)
            read(index, atMost: .max, turnsPages: true)
            if readers[index].last != service.log.newestID {
                fault = "reader \(index) ends at \(readers[index].last, default: "-")"
            }
        }
    }

    private mutating func step() {
        let index = readers.isEmpty ? nil : Int.random(in: 0..<readers.count, using: &random)
        switch (Int.random(in: 0..<24, using: &random), index) {
        case (0..<3, _) where readers.count < 4: subscribe()
        case (3..<9, _), (_, nil): for _ in 0..<Int.random(in: 1...5, using: &random) { service.publish() }
        case (9..<16, let index?): read(index, atMost: .random(in: 1...4, using: &random))
        case (16..<18, let index?): drop(index)
        case (18, _): restart()
        case (19, _): if Int.random(in: 0..<4, using: &random) == 0 { service.lose(1) }
        case (20, _): service.store(.random(in: 1...6, using: &random))
        case (21, _): if Bool.random(using: &random) { service.remove(.random(in: 1...3, using: &random)) }
        case (_, let index?): connect(index)
        }
    }

    private mutating func subscribe() {
        readers.append(.init(cursor: nil, mode: Bool.random(using: &random) ? .all : .latest))
        connect(readers.count - 1)
    }

    private mutating func drop(_ index: Int) {
        readers[index].cursor = nil
        readers[index].page = nil
    }

    /// The service starts again: its log is empty, and all connections are cut.
    private mutating func restart() {
        let isKilled = Bool.random(using: &random)
        tally.note(isKilled ? "killed" : "restarted")
        service.restart(run: random.next(), isKilled: isKilled)
        for index in readers.indices { drop(index) }
    }

    private mutating func connect(_ index: Int) {
        guard readers[index].cursor == nil else { return }
        let reader = readers[index]
        readers[index].begins = reader.last == nil
        if reader.last != nil { tally.note("resumed") }
        let start = reader.last.map { ReadStart.after($0) } ?? .now
        readers[index].cursor = .init(start, mode: reader.mode, in: service.log, hasJournal: service.hasJournal)
    }

    private mutating func read(_ index: Int, atMost limit: Int, turnsPages: Bool = false) {
        var count = 0
        turnPage(index)
        while fault == nil, count < limit, let delivery = readers[index].cursor?.next(in: service.log) {
            count += 1
            check(delivery, readers[index])
            switch delivery {
            case .event(let id, _, _), .state(let id, _):
                readers[index].last = id
                readers[index].begins = false
            case .page(let id):
                tally.note("page")
                readers[index].page = id
                // Otherwise it is read later, when other things have happened.
                if turnsPages || Bool.random(using: &random) { turnPage(index) }
            }
        }
    }

    private mutating func turnPage(_ index: Int) {
        guard let id = readers[index].page else { return }
        readers[index].page = nil
        readers[index].mayLack = service.hasWaiting
        let page = service.page(after: id, limit: Int.random(in: 1...4, using: &random))
        readers[index].cursor?.receive(page, in: service.log)
    }

    private mutating func check(_ delivery: EventDelivery<UInt64>, _ reader: Reader) {
        switch delivery {
        case .event(let id, let content, let gap): checkEvent(id, content, gap, reader)
        case .state(let id, let gap?):
            checkGap(gap, id, reader)
            let missed =
                gap.from?.run == id.run && gap.reason != .unknown ? id.sequence - (gap.from?.sequence ?? 0) : nil
            if gap.missed != missed || id != service.log.newestID { fault = "\(gap) to \(id)" }
        case .state(let id, nil):
            tally.note(reader.mode == .latest ? "latest" : "state")
            if id != service.log.newestID { fault = "the state is of \(id)" }
            let isNewer = reader.last.map { $0.run != id.run || $0.sequence < id.sequence } ?? true
            if !reader.begins, reader.mode == .all || !isNewer { fault = "a state at \(id) without a gap" }
        case .page(let id):
            if !service.hasJournal || id != reader.last || reader.mode == .latest { fault = "a page after \(id)" }
        }
    }

    private mutating func checkEvent(_ id: EventID, _ content: UInt64, _ gap: EventGap?, _ reader: Reader) {
        tally.note("event")
        guard let last = reader.last, content == StoryService.content(id) else {
            fault = "\(id) with \(content) after \(reader.last, default: "-")"
            return
        }
        if let gap {
            tally.note("event after a gap")
            checkGap(gap, id, reader)
            let missed = last.run == id.run ? id.sequence - last.sequence - 1 : nil
            if !service.isOrdered(last, before: id) || gap.missed != missed { fault = "\(gap) to \(id) after \(last)" }
        } else {
            if last.run != id.run { tally.note("event of the next run") }
            if service.successor(of: last) != id { fault = "\(id) after \(last) without a gap" }
        }
    }

    private mutating func checkGap(_ gap: EventGap, _ id: EventID, _ reader: Reader) {
        tally.note("gap \(gap.reason.rawValue)")
        let isTrue = service.isTrue(gap, upTo: id) || gap.reason == .lost && reader.mayLack
        if gap.from != reader.last || reader.begins || reader.mode == .latest || !isTrue {
            fault = "\(gap) to \(id) after \(reader.last, default: "-")"
        }
    }
}
