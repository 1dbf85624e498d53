import CommandLineLab
import EventCore
import EventJournal
import EventServer
import Glibc
import HTTPLab
import Locking
import NIOCore
import NetwatchCore
import NetworkLab
import Testing

@testable import netwatchd

@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct EventHistoryTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func journal(_ run: UInt64) -> EventJournal {
        EventJournal(JournalOptions(folder: folder.path, limits: []).configuration(run))
    }

    /// A service with a journal, as long as a closure runs; its run publishes so many events.
    private func serve(
        run: UInt64,
        events: Int,
        limits: EventServerLimits = .lab,
        _ body: (ServerLab) throws -> Void = { _ in }
    ) throws {
        let journal = journal(run)
        defer { journal.close() }
        let lab = try ServerLab(run: run, store: journal) { $0 = limits }
        try lab.server.waitForJournal(within: .seconds(60))
        lab.publish(events)
        try body(lab)
        try lab.server.stop()
    }

    private func id(_ run: UInt64, _ sequence: UInt64) -> String { EventID(run: run, sequence: sequence).description }

    @Test func `a client continues over a restart of the service, without a gap`() throws {
        try serve(run: 9, events: 3)
        try serve(run: 2, events: 2) { lab in
            let client = try lab.follow("/v1/events", "Last-Event-ID: \(id(9, 1))")
            for expected in [id(9, 2), id(9, 3), id(2, 1), id(2, 2)] { #expect(try client.event()?["id"] == expected) }
            lab.publish()
            #expect(try client.event()?["id"] == id(2, 3))
        }
    }

    @Test func `events older than the log are read from the journal, however many`() throws {
        var limits = EventServerLimits.lab
        limits.logCapacity = 4
        limits.pageLength = 3
        try serve(run: 9, events: 100, limits: limits) { lab in
            // All that wait are stored with a scrape.
            _ = try lab.get("/metrics")
            let client = try lab.follow("/v1/events?after=\(id(9, 5))", "Accept: application/x-ndjson")
            for sequence in 6...100 {
                #expect(try JSONParser.parse(try #require(try client.line()))["seq"]?.number == Double(sequence))
            }
        }
    }

    @Test func `a slow reader receives every event, from the journal`() throws {
        var limits = EventServerLimits.lab
        limits.logCapacity = 16
        try serve(run: 9, events: 1, limits: limits) { lab in
            let slow = try lab.follow()
            for _ in 0..<10 {
                lab.publish(200, padding: 1000)
                // The report is made when what was published before is stored, however slow the disk is.
                _ = try lab.get("/metrics")
                _ = try lab.get("/v1/history")
            }
            for sequence in UInt64(1)...2001 { #expect(try slow.event()?["id"] == id(9, sequence)) }
        }
    }

    @Test func `after a kill, the next event is preceded by a gap`() throws {
        let killed = journal(9)
        let first = try ServerLab(run: 9, store: killed)
        try first.server.waitForJournal(within: .seconds(60))
        first.publish(2)
        _ = try first.get("/metrics")
        _ = try first.get("/v1/history")
        try serve(run: 2, events: 1) { lab in
            let client = try lab.follow("/v1/events?after=\(id(9, 1))")
            #expect(try client.event()?["id"] == id(9, 2))
            let gap = try #require(try client.event())
            #expect(gap["id"] == nil)
            let report = #""gap":{"from":"\#(id(9, 2))","missed":null,"reason":"lost"}}"#
            #expect(gap["data"] == #"{"v":1,"seq":1,"event":"gap","x":"",\#(report)"#)
            #expect(try client.event()?["id"] == id(2, 1))
        }
        try first.server.stop()
        killed.close()
    }

    @Test func `the history has the stored lines, or the availability`() throws {
        try serve(run: 9, events: 2)
        try serve(run: 2, events: 40) { lab in
            _ = try lab.get("/metrics")
            let lines = try lab.follow("/v1/history?since=1h", "Accept: application/x-ndjson")
            for sequence in Array(1...2) + Array(1...40) {
                let line = try #require(try lines.line())
                #expect(line == #"{"v":1,"seq":\#(sequence),"event":"change","x":""}"#)
            }
            #expect(try lines.line() == nil)
            let report = try lab.get("/v1/history")
            #expect(report.status == 200 && report.fields["content-type"] == "application/json")
            #expect(try JSONParser.parse(report.body)["days"]?.elements?.isEmpty == false)
            let head = try lab.get("/v1/history", method: "HEAD")
            #expect(head.status == 200 && head.body == "")
        }
    }

    @Test func `a history with pages that the channel does not take at once has each line once`() throws {
        try serve(run: 9, events: 0) { lab in
            lab.publish(40, padding: 3000)
            _ = try lab.get("/metrics")
            _ = try lab.get("/v1/history")
            let lines = try lab.follow("/v1/history", "Accept: application/x-ndjson")
            for sequence in 1...40 {
                #expect(try JSONParser.parse(try #require(try lines.line()))["seq"]?.number == Double(sequence))
            }
            #expect(try lines.line() == nil)
        }
    }

    @Test func `large events from the journal are sent once each, in order`() throws {
        var limits = EventServerLimits.lab
        limits.logCapacity = 1
        limits.pageLength = 1
        try serve(run: 9, events: 0, limits: limits) { lab in
            lab.publish(5, padding: 40_000)
            _ = try lab.get("/metrics")
            _ = try lab.get("/v1/history")
            let client = try lab.follow("/v1/events?after=\(id(9, 0))")
            for sequence in UInt64(1)...5 { #expect(try client.event()?["id"] == id(9, sequence)) }
            lab.publish()
            #expect(try client.event()?["id"] == id(9, 6))
        }
    }

    @Test func `a history is complete for clients that pause before they read its end`() throws {
        let lab = try ServerLab(store: PeriodStore()) { $0.drainTimeout = .milliseconds(500) }
        // The kernel takes an unknown number of bytes. One of these histories ends in the buffer of the server.
        let counts = Array(stride(from: 64, through: 320, by: 16))
        let clients = try counts.map { count in
            try lab.follow("/v1/history?since=\(count)m", "Accept: application/x-ndjson")
        }
        usleep(1_500_000)
        for (count, client) in zip(counts, clients) {
            for sequence in 1...count {
                let line = try client.line()
                #expect(line?.hasPrefix("{\"seq\":\(sequence),") == true, "line \(sequence) of \(count)")
            }
            #expect(try client.line() == nil)
        }
    }

    @Test func `without a journal there is no history, and the response says what to do`() throws {
        let lab = try ServerLab()
        lab.publish()
        let response = try lab.get("/v1/history")
        #expect(response.status == 404 && response.body.contains("netwatch serve --journal DIR"))
        #expect(try lab.get("/v1/history", "Accept: application/x-ndjson").status == 404)
        for wrong in ["since=1", "since=400d", "since=-1d", "until=1d"] {
            #expect(try lab.get("/v1/history?\(wrong)").status == 400)
        }
    }

    @Test func `a history of a journal that can't be read is an error, not an empty history`() throws {
        let lab = try ServerLab(store: UnreadableStore())
        let client = try lab.client()
        for fields in [["Accept: application/x-ndjson"], []] {
            client.send((["GET /v1/history HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n"))
            let response = try client.response()
            #expect(response.status == 503 && response.body.contains("the journal cannot be read"))
        }
        let report = try LabProcess.run(ToolBinary.path, ["history", "--socket", lab.path])
        #expect(report.code == 65 && report.errors.contains("cannot read its journal; see its log"), "\(report)")
    }

    @Test func `the main thread does not wait for a journal whose counters take long to be read`() throws {
        let store = SlowStore()
        let lab = try ServerLab(store: store)
        #expect(try lab.server.metrics() == nil)
        store.finish()
        #expect(try lab.server.metrics()?.contains("netwatch_outages_total 0\n") == true)
    }

    @Test func `counters outlive the service, and the journal's health is one of the metrics`() throws {
        try serve(run: 9, events: 3)
        try serve(run: 2, events: 1) { lab in
            let text = try lab.get("/metrics").body
            #expect(text.contains("\nnetwatch_changes_total{reason=\"route.added\"} 4\n"))
            #expect(
                text.contains("\nnetwatch_journal_up 1\n") && text.contains("\nnetwatch_journal_lost_events_total 0\n")
            )
        }
        let plain = try ServerLab()
        #expect(try plain.get("/metrics").body.contains("journal") == false)
    }

    @Test(arguments: [
        ("30d", KeepArgument.age(.seconds(30 * 86_400))), ("12h", .age(.seconds(43_200))), ("64MiB", .size(64 << 20)),
        ("2GiB", .size(2 << 30)),
    ])
    func `limits of the journal are ages and sizes`(text: String, limit: KeepArgument) throws {
        #expect(try KeepArgument.parse(text) == limit)
    }

    @Test(arguments: ["", "d", "0d", "30", "30 d", "-1d", "4000d", "0MiB", "64MB", "9999999999d", "2048GiB"])
    func `other limits are refused`(text: String) {
        #expect(throws: (any Error).self) { try KeepArgument.parse(text) }
    }
}

/// A journal whose counters take any time to be read.
private final class SlowStore: EventStore {
    let health = JournalHealth()
    private let waiting = Lock<[@Sendable (EventTotals?) -> Void]>([])

    /// Completes what has waited for the counters.
    func finish() {
        for body in waiting.withLock({ $0 }) { body(.init()) }
    }

    func restore(_ body: @escaping @Sendable (EventTotals?) -> Void) { waiting.withLock { $0.append(body) } }

    func append(_ event: StoredEvent) {}

    func save(_ totals: EventTotals, at moment: EventMetrics.Moment) {}

    func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void) {
        body(.init([]))
    }

    func start(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable (EventID?) -> Void) {
        body(nil)
    }

    func report(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable ([UInt8]?) -> Void) {
        body(nil)
    }
}

/// A journal that can't be read.
private final class UnreadableStore: EventStore {
    let health = JournalHealth(isStoring: false)

    func restore(_ body: @escaping @Sendable (EventTotals?) -> Void) { body(nil) }

    func append(_ event: StoredEvent) {}

    func save(_ totals: EventTotals, at moment: EventMetrics.Moment) {}

    func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void) {
        body(.init([], failure: .unknown, isReadable: false))
    }

    func start(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable (EventID?) -> Void) {
        body(nil)
    }

    func report(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable ([UInt8]?) -> Void) {
        body(nil)
    }
}

/// A journal in memory that has an event of 1 KB for each minute of a period.
private final class PeriodStore: EventStore {
    let health = JournalHealth()

    func restore(_ body: @escaping @Sendable (EventTotals?) -> Void) { body(nil) }

    func append(_ event: StoredEvent) {}

    func save(_ totals: EventTotals, at moment: EventMetrics.Moment) {}

    func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void) {
        // The run of the ids is the number of events.
        let run = JournalRun(ordinal: 1, run: id.run, last: id.run, removed: 0)
        let padding = String(repeating: "x", count: 1000)
        let page = JournalOrder([run]).page(after: id) { (ordinal, sequence) -> [JournalOrder.Stored<[UInt8]>] in
            let numbers = (1...UInt64(limit)).map { sequence + $0 }.filter { $0 <= id.run }
            return numbers.map { number in
                let line = "{\"seq\":\(number),\"x\":\"\(padding)\"}\n"
                return JournalOrder.Stored(ordinal: ordinal, sequence: number, event: Array(line.utf8))
            }
        }
        body(page)
    }

    func start(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable (EventID?) -> Void) {
        body(.init(run: UInt64(age.components.seconds / 60), sequence: 0))
    }

    func report(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable ([UInt8]?) -> Void) {
        body(nil)
    }
}
