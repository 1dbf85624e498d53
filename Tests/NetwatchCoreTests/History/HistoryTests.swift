import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct HistoryTests {
    /// Seconds since 2026-11-20T00:00Z, which is day 20,777.
    private static let start: Int64 = 1_795_132_800

    private func record(
        _ line: Int,
        _ seconds: Int64,
        _ status: ReachabilityStatus,
        first: Bool = false,
        seq: UInt64? = nil
    ) -> HistoryRecord {
        .init(
            line: line,
            time: .init(seconds: Self.start + seconds, nanoseconds: 0),
            isFirst: first,
            sequence: seq ?? UInt64(line),
            status: status,
            reasons: status == .notReachable ? ["link.carrier.lost", "path.noCarrier"] : []
        )
    }

    private func history(_ records: HistoryRecord..., bridge: Duration = .seconds(60)) -> History {
        var history = History(records[0], bridge: bridge)
        for record in records.dropFirst() { history.take(record) }
        return history
    }

    private func moment(_ seconds: Int64) -> Instant { .init(nanoseconds: (Self.start + seconds) * 1_000_000_000) }

    private func lines(_ history: History, until end: Int64) -> [String] {
        var history = history
        history.extend(to: .init(seconds: Self.start + end, nanoseconds: 0))
        return HistoryTable(history, in: moment(0)..<moment(end), days: LocalDays { _ in 0 }) { time in
            "+\(time.seconds - Self.start)"
        }.lines
    }

    private func record(_ line: Int, _ seconds: Int64, _ verdict: ValidationVerdict?) -> HistoryRecord {
        var record = record(line, seconds, .wifi, first: line == 1)
        record.verdict = verdict
        return record
    }

    @Test func `a time behind a portal or without internet is named, and is no outage`() {
        let history = history(
            record(1, 0, nil),
            record(2, 60, .portal(.init(loginURL: "http://hotel.example/\u{1B}[2J"))),
            record(3, 70, .portal(.init(loginURL: "http://hotel.example/\u{1B}[2J"))),
            record(4, 120, .validated),
            record(5, 150, .noInternet(.nameServer)),
            record(6, 160, .notChecked),
            record(7, 180, .noInternet(.noResponse))
        )
        #expect(
            lines(history, until: 240).suffix(6)
                == [
                    "no outage", "", "limited from  until  length        verdict",
                    "+60           +120   1 min         portal at http://hotel.example/\\u{1b}[2J",
                    "+150          +160   10 s          no internet: no name server answers",
                    "+180          -      1 min so far  no internet: no server answers",
                ]
        )
        #expect(history.outages.isEmpty)
        #expect(history.limitations(in: moment(0)..<moment(59)).isEmpty)
        #expect(history.limitations(in: moment(100)..<moment(110)).count == 1)
    }

    @Test func `a verdict ends with its path, and where nothing was monitored`() {
        let history = history(
            record(1, 0, .portal(.init())),
            record(2, 60, nil),
            record(3, 70, .noInternet(.noResponse)),
            record(4, 80, .notReachable),
            record(5, 90, .portal(.init())),
            record(9, 100, .portal(.init()))
        )
        let spans = history.limitations.map { [$0.start, $0.end].map { $0.map { moment(0).duration(to: $0) } } }
        #expect(spans == [[0, 60], [70, 80], [90, 90], [100, nil]].map { $0.map { $0.map { .seconds($0) } } })
    }

    @Test func `the table has a line for each day`() {
        let history = history(
            record(1, 0, .wifi, first: true),
            record(2, 3600, .notReachable),
            record(3, 3800, .wifi),
            record(4, 86_400 + 600, .notReachable)
        )
        #expect(
            lines(history, until: 86_400 + 1200)
                == [
                    "day         available  outages     longest         away  unknown",
                    "2026-11-20    99.76 %        1  3 min 20 s   3 min 20 s        -",
                    "2026-11-21    50.00 %        1      10 min       10 min        -",
                    "whole         99.08 %        2      10 min  13 min 20 s        -",
                    "", "outage from  until  length         reason",
                    "+3600        +3800  3 min 20 s     link.carrier.lost, path.noCarrier",
                    "+87000       -      10 min so far  link.carrier.lost, path.noCarrier",
                ]
        )
    }

    @Test func `an outage that begins where the record ends is counted and named`() {
        #expect(
            lines(history(record(1, 0, .notReachable, first: true)), until: 0)
                == [
                    "day    available  outages  longest  away  unknown",
                    "whole     0.00 %        1        -     -        -",
                    "", "outage from  until  length       reason",
                    "+0           -      0 ms so far  link.carrier.lost, path.noCarrier",
                ]
        )
    }

    @Test func `an outage that begins at midnight belongs to the new day only`() {
        let history = history(
            record(1, 0, .wifi, first: true),
            record(2, 86_400, .notReachable),
            record(3, 86_460, .wifi)
        )
        #expect(
            lines(history, until: 2 * 86_400).prefix(4)
                == [
                    "day         available  outages  longest   away  unknown",
                    "2026-11-20   100.00 %        0        -      -        -",
                    "2026-11-21    99.93 %        1    1 min  1 min        -",
                    "whole         99.96 %        1    1 min  1 min        -",
                ]
        )
    }

    @Test func `a restart is a gap unless it is short`() {
        let long = history(
            record(1, 0, .wifi, first: true),
            record(2, 1000, .wifi, first: true, seq: 1),
            record(3, 2000, .wifi, seq: 2)
        )
        let sum = long.timeline.availability(in: moment(0)..<moment(2000))
        #expect(sum.unknown == .seconds(1000) && sum.up == .seconds(1000) && sum.outages == 0)
        #expect(long.irregularities.isEmpty)
        let short = history(record(1, 0, .wifi, first: true), record(2, 50, .wifi, first: true, seq: 1))
        #expect(short.timeline.availability(in: moment(0)..<moment(50)).unknown == .zero)
        let bridged = history(
            record(1, 0, .wifi, first: true),
            record(2, 1000, .wifi, first: true, seq: 1),
            bridge: .seconds(1000)
        )
        #expect(bridged.timeline.availability(in: moment(0)..<moment(1000)).unknown == .zero)
    }

    @Test func `lost lines and changes of the clock are irregularities`() {
        let history = history(
            record(1, 100, .wifi, first: true),
            record(2, 200, .notReachable, seq: 5),
            record(3, 150, .wifi, seq: 6),
            record(4, 160, .wifi, seq: 6),
            record(5, 86_400 * 400, .notReachable, seq: 7),
            record(6, 86_400 * 400 + 1, .wifi, seq: 3)
        )
        #expect(
            history.irregularities.map(\.line) == [2, 3, 4, 5, 6]
        )
        #expect(history.irregularities[0].kind == .lost(3))
        #expect(history.irregularities[1].kind == .clockWentBack(.seconds(50)))
        #expect(history.irregularities[4].kind == .lost(nil))
        let sum = history.timeline.availability(in: moment(100)..<moment(200))
        #expect(sum.unknown == .seconds(100))
        #expect(history.outages.map { $0.end == nil } == [false, false])
    }

    @Test func `a clock change of centuries is reported as a leap`() {
        var history = history(record(1, 0, .wifi, first: true))
        history.take(
            .init(line: 2, time: .init(seconds: .max, nanoseconds: 0), isFirst: false, sequence: 2, status: .wifi)
        )
        history.take(
            .init(line: 3, time: .init(seconds: -1 << 40, nanoseconds: 0), isFirst: false, sequence: 3, status: .wifi)
        )
        #expect(history.irregularities.map(\.line) == [2, 3])
        #expect(Instant(nanoseconds: .min).duration(to: .init(nanoseconds: 1)) == .nanoseconds(Int64.max))
        #expect(Instant(nanoseconds: 2).duration(to: .init(nanoseconds: .min)) == .nanoseconds(Int64.min))
    }

    @Test func `the state lasts until now at most`() {
        let start = Timestamp(seconds: Self.start, nanoseconds: 0)
        let now = Timestamp(seconds: Self.start + 500, nanoseconds: 0)
        let future = Timestamp(seconds: Self.start + 86_400, nanoseconds: 0)
        var history = history(record(1, 0, .wifi, first: true), record(2, 100, .wifi))
        #expect(history.window(since: nil, until: nil, now: now) == moment(0)..<moment(100))
        #expect(history.window(since: start, until: future, now: now) == moment(0)..<moment(500))
        #expect(history.window(since: future, until: nil, now: now) == nil)
    }

    @Test func `the time of a suspension is unknown`() {
        var slept = record(2, 3600, .wifi)
        slept.suspension = .lasted(.seconds(3000))
        let history = history(record(1, 0, .wifi, first: true), slept, record(3, 3700, .wifi))
        let sum = history.timeline.availability(in: moment(0)..<moment(3700))
        #expect(sum.unknown == .seconds(3000) && sum.up == .seconds(700) && history.irregularities.isEmpty)
        // Longer than there are records.
        slept.suspension = .lasted(.seconds(1 << 40))
        let long = self.history(record(1, 0, .wifi, first: true), slept)
        #expect(long.timeline.availability(in: moment(0)..<moment(3600)).unknown == .seconds(3600))
    }

    @Test func `a suspension of unknown length makes the time before it unknown`() {
        var slept = record(3, 3600, .wifi)
        slept.suspension = .untold
        let history = history(record(1, 0, .wifi, first: true), record(2, 100, .wifi), slept)
        let sum = history.timeline.availability(in: moment(0)..<moment(3600))
        #expect(sum.unknown == .seconds(3500) && sum.up == .seconds(100))
        #expect(history.irregularities.map(\.line) == [3] && history.irregularities.map(\.kind) == [.suspended])
    }

    @Test func `if a monitor starts with a clock that is behind, the time is unknown until the clock is set`() {
        let history = history(
            record(1, 1000, .wifi, first: true),
            record(2, -86_400, .wifi, first: true, seq: 1),
            record(3, -86_390, .notReachable, seq: 2),
            record(4, 864_000, .wifi, seq: 3),
            record(5, 864_100, .wifi, seq: 4)
        )
        let sum = history.timeline.availability(in: moment(1000)..<moment(864_100))
        #expect(sum.unknown == .seconds(863_000) && sum.up == .seconds(100) && sum.outages == 0)
        #expect(
            history.irregularities.map(\.line) == [2]
                && history.irregularities.map(\.kind) == [.beganBehind(.seconds(87_400))]
        )
        #expect(history.outages.isEmpty)
    }

    @Test func `the list of outages agrees with the days`() {
        let history = history(
            record(1, 0, .wifi, first: true),
            record(2, 3600, .notReachable),
            record(3, 7200 + 3600, .wifi, first: true, seq: 1)
        )
        #expect(
            lines(history, until: 7200 + 3600)
                == [
                    "day         available  outages  longest  away  unknown",
                    "2026-11-20    99.99 %        1        -     -      2 h",
                    "whole         99.99 %        1        -     -      2 h",
                    "", "outage from  until   length                reason",
                    "+3600        +10800  0 ms and 2 h unknown  link.carrier.lost, path.noCarrier",
                ]
        )
    }

    @Test(
        arguments: [
            // Santiago: at 04:00Z, from -4 to -3 hours, so that 6 September begins at one o'clock; and back in April.
            (1_788_667_200, -4, -3, "2026-09-06", 1_788_667_200), (1_775_358_000, -3, -4, "2026-04-05", 1_775_361_600),
            // Havana: at midnight, from -5 to -4 hours; back at one o'clock, so that 1 November has two midnights.
            (1_772_946_000, -5, -4, "2026-03-08", 1_772_946_000), (1_793_509_200, -4, -5, "2026-11-01", 1_793_505_600),
            // Beirut: at 22:00Z, from 2 to 3 hours.
            (1_774_735_200, 2, 3, "2026-03-29", 1_774_735_200),
        ] as [(Int64, Int, Int, String, Int64)]
    )
    func `a day begins when its date does`(change: Int64, before: Int, after: Int, date: String, start: Int64) throws {
        let days = LocalDays { ($0.seconds < change ? before : after) * 3600 }
        let day = try #require(CivilDay(date))
        #expect(days.midnight(of: day) == .init(seconds: start, nanoseconds: 0))
        #expect(days.day(of: .init(seconds: start, nanoseconds: 0)) == day)
        #expect(days.day(of: .init(seconds: start - 1, nanoseconds: 0)).daysSinceEpoch == day.daysSinceEpoch - 1)
    }

    @Test func `a date that a time zone skipped is no day`() {
        // Samoa crossed the date line: at 2011-12-30T10:00Z, from -10 to 14 hours.
        let change: Int64 = 1_325_239_200
        let days = LocalDays { ($0.seconds < change ? -10 : 14) * 3600 }
        let window = [-86_400, 86_400].map { Instant(nanoseconds: (change + $0) * 1_000_000_000) }
        let list = days.days(in: window[0]..<window[1])
        let hours = list.map { $0.span.lowerBound.duration(to: $0.span.upperBound) / Duration.seconds(3600) }
        #expect(list.map(\.date.text) == ["2011-12-29", "2011-12-30", "2011-12-31"] && hours == [24, 0, 24])
    }

    @Test func `days are local, with a short one at the start of summer time`() {
        // Berlin 2026: on 29 March at 01:00Z, from +1 to +2 hours.
        let change: Int64 = 1_774_746_000
        let days = LocalDays { $0.seconds < change ? 3600 : 7200 }
        let start = Instant(nanoseconds: (change - 86_400) * 1_000_000_000)
        let list = days.days(in: start..<Instant(nanoseconds: (change + 86_400) * 1_000_000_000))
        #expect(list.map(\.date.text) == ["2026-03-28", "2026-03-29", "2026-03-30"])
        let hours = list.map { $0.span.lowerBound.duration(to: $0.span.upperBound) / Duration.seconds(3600) }
        #expect(hours == [24, 23, 24])
    }

    @Test(
        arguments: [
            ("2026-11-20T00:00:00Z", Self.start, 0), ("2026-11-20T01:00:00.5+01:00", Self.start, 500_000_000),
            ("2026-11-19T23:30:00.123456-00:30", Self.start, 123_456_000), ("2000-02-29T00:00:00Z", 951_782_400, 0),
            ("1969-12-31T23:59:59Z", -1, 0),
        ] as [(String, Int64, Int64)]
    )
    func `a moment is parsed`(text: String, seconds: Int64, nanoseconds: Int64) {
        #expect(Timestamp(rfc3339: text) == .init(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T00:00:00", "2026-13-20T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T00:00:00.Z", "2026-11-20T00:00:00+1:00", "2026-11-20T00:00:00Z ", "x026-11-20T00:00:00Z",
    ])
    func `an invalid moment is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `text in a picture is escaped, and no outage is lost`() {
        var bad = record(2, 3600, .notReachable)
        bad.reasons = ["<&\">\u{1}"]
        var history = history(record(1, 0, .wifi, first: true), bad, record(3, 3601, .cellular))
        history.extend(to: .init(seconds: Self.start + 86_400, nanoseconds: 0))
        let picture = HistoryPicture(history, in: moment(0)..<moment(86_400), days: LocalDays { _ in 0 }) { _ in "then"
        }
        #expect(picture.text.contains("from then: &lt;&amp;&quot;&gt;\\u{1}</title>"))
        #expect(picture.text.contains(#"<rect class="away" x="132" y="64" width="1" height="16"/>"#))
        #expect(picture.text.contains(#"<rect class="cellular" x="133" "#))
        #expect(!picture.text.contains("<script") && picture.text.contains("prefers-color-scheme: dark"))
    }

    @Test func `an outage that begins at the window's end is marked and counted`() {
        let history = history(record(1, 0, .wifi, first: true), record(2, 3600, .notReachable))
        let picture = HistoryPicture(history, in: moment(0)..<moment(3600), days: LocalDays { _ in 0 }) { _ in "then" }
        #expect(picture.text.contains("1 outage") && picture.text.contains("<title>Outage of 0 ms so far from then"))
    }
}
