import ReachabilityCore
import Testing

@testable import NetwatchCore

@Suite struct EventLogTests {
    @Test func `the newest events are kept`() {
        var log = EventLog(paths)
        for number in 0..<25_000 { append(&log, UInt64(number)) }
        #expect(log.count <= 11_000 && log.count >= 10_000)
        #expect(log.shown(0)?.change.sequence == 24_999)
        #expect(log.shown(log.count - 1)?.change.sequence == UInt64(25_000 - log.count))
        #expect(log.shown(log.count) == nil && log.shown(-1) == nil)
    }

    @Test func `a filter stays in effect while events are dropped and added`() {
        var log = EventLog(paths)
        for number in 0..<10_000 { append(&log, UInt64(number)) }
        log.setFilter("TUNNEL.chan")
        #expect(log.shownCount == 1000)
        for number in 10_000..<13_000 { append(&log, UInt64(number)) }
        let sequences = (0..<log.shownCount).compactMap { log.shown($0)?.change.sequence }
        #expect(sequences.allSatisfy { $0.isMultiple(of: 10) })
        #expect(sequences == sequences.sorted(by: >) && sequences.first == 12_990 && sequences.count >= 1000)
        #expect(sequences.last.map { $0 + 10 >= 13_000 - UInt64(log.count) } == true)
        log.setFilter("")
        #expect(log.shownCount == log.count)
    }

    @Test func `an entry is found again by its serial`() throws {
        var log = EventLog(paths)
        for number in 0..<100 { append(&log, UInt64(number)) }
        let entry = try #require(log.shown(30))
        #expect(log.place(of: entry.serial) == 30)
        append(&log, 100)
        #expect(log.place(of: entry.serial) == 31)
        log.setFilter("tunnel")
        #expect(log.place(of: entry.serial) == nil)
        #expect(log.place(of: 50) == 5 && log.place(of: 5000) == nil && log.place(of: -1) == nil)
    }

    @Test func `paused events count if they match the filter`() {
        var log = EventLog(paths)
        for number in 1..<20 { append(&log, UInt64(number)) }
        log.setFilter("tunnel")
        log.togglePause()
        for number in 20..<45 { append(&log, UInt64(number)) }
        #expect(log.shownCount == 1 && log.heldCount == 3 && log.isPaused)
        log.setFilter("")
        #expect(log.shownCount == 19 && log.heldCount == 25)
        log.togglePause()
        #expect(log.shownCount == 44 && log.heldCount == 0 && !log.isPaused)
    }

    @Test(arguments: [
        ("wlan0", true), ("192.0.2.1", true), ("WIFI", true), ("14:00", true), ("2026-11-20", true),
        ("wlan0 eth0", false),
        ("notreachable", false), ("route.added wlan0", true), ("  ", true),
    ])
    func `a filter searches every column`(filter: String, isFound: Bool) {
        var story = Story.wifi()
        story.type("/" + filter)
        #expect((story.view.log.shownCount > 0) == isFound)
    }

    private let paths = PathWords(glyphs: .init(isASCII: false))

    /// Every tenth event is about a tunnel.
    private func append(_ log: inout EventLog, _ number: UInt64) {
        let change = ReachabilityChange(
            event: .change,
            status: .wifi,
            previous: .wifi,
            path: .init(status: .wifi),
            reasons: [number.isMultiple(of: 10) ? .tunnelChanged : .ruleChanged],
            sequence: number
        )
        let moment = ViewMoment(time: .init(seconds: 0, nanoseconds: 0), instant: .init(nanoseconds: 0))
        _ = log.append(change, latency: nil, time: .init(moment))
    }
}
