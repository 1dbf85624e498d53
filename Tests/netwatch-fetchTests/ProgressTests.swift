import ReachabilityCore
import Testing

@testable import netwatch_fetch

@Suite struct ProgressTests {
    private func meter(_ samples: [(second: Int64, received: Int)], of expected: Int?) -> ProgressMeter {
        var meter = ProgressMeter()
        for (second, received) in samples {
            meter.note(received, of: expected, at: .init(nanoseconds: second * 1_000_000_000))
        }
        return meter
    }

    @Test func `the rate is that of the last seconds`() {
        let steady = meter((0...10).map { ($0, Int($0) * 1000) }, of: 20_000)
        #expect(steady.rate == 1000)
        #expect(steady.timeLeft == .seconds(10))
        let stalled = meter([(0, 0), (1, 9000), (5, 9000), (9, 9000)], of: 10_000)
        #expect(stalled.rate == 0)
        #expect(stalled.timeLeft == nil)
        #expect(meter([(0, 5)], of: 10).rate == nil)
        #expect(meter([], of: nil).rate == nil)
    }

    @Test func `a request that waits for a second says what for`() {
        func at(_ milliseconds: Int64) -> Instant { .init(nanoseconds: milliseconds * 1_000_000) }
        var row = ActivityRow(at: at(0))
        #expect(row.text(.path, width: 80, at: at(999)) == nil)
        #expect(row.text(.path, width: 80, at: at(1_000)) == "waiting for a path")
        #expect(row.text(.server, width: 80, at: at(1_001)) == "waiting for the server")
        #expect(row.text(.server, width: 22, at: at(1_002)) == nil)
    }

    @Test func `a line of progress`() {
        let half = meter([(0, 0), (1, 500_000)], of: 1_000_000)
        let line = ProgressText.line(half, width: 80)
        #expect(line == " 50 % [###############...............] 500.0 kB of 1.0 MB, 500.0 kB/s, 1 s left")
        #expect(ProgressText.line(meter([(0, 0), (1, 1500)], of: nil), width: 80) == "1.5 kB, 1.5 kB/s")
        let whole = ProgressText.line(meter([(0, 10)], of: 10), width: 80)
        #expect(whole.hasPrefix("100 % [####") && whole.hasSuffix("#] 10 B of 10 B"))
        #expect(ProgressText.line(meter([(0, 20)], of: 10), width: 80).hasPrefix("100 %"))
        for width in 0...200 { #expect(ProgressText.line(half, width: width).count < max(1, width)) }
    }

    @Test func `parts that don't fit are left out completely, the bar first`() {
        let half = meter([(0, 0), (1, 500_000)], of: 1_000_000)
        let lines: [(width: Int, line: String)] = [
            (62, " 50 % [######......] 500.0 kB of 1.0 MB, 500.0 kB/s, 1 s left"),
            (55, " 50 % [##...] 500.0 kB of 1.0 MB, 500.0 kB/s, 1 s left"),
            (54, " 50 % 500.0 kB of 1.0 MB, 500.0 kB/s, 1 s left"),
            (47, " 50 % 500.0 kB of 1.0 MB, 500.0 kB/s, 1 s left"),
            (46, " 50 % 500.0 kB of 1.0 MB, 500.0 kB/s"),
            (37, " 50 % 500.0 kB of 1.0 MB, 500.0 kB/s"),
            (36, " 50 % 500.0 kB of 1.0 MB"),
            (25, " 50 % 500.0 kB of 1.0 MB"),
            (24, " 50 % 500.0 kB"),
            (15, " 50 % 500.0 kB"),
            (14, " 50 %"),
            (6, " 50 %"),
            (5, ""),
            (1, ""),
            (0, ""),
        ]
        for (width, line) in lines {
            let drawn = ProgressText.line(half, width: width)
            #expect(drawn == line, "\(width)")
        }
    }

    @Test func `the line of an upload says 'sent'`() {
        let half = meter([(0, 0), (1, 500_000)], of: 1_000_000)
        let line = " 50 % [############.............] 500.0 kB of 1.0 MB sent, 500.0 kB/s, 1 s left"
        #expect(ProgressText.line(half, .sent, width: 80) == line)
        let unknown = meter([(0, 0), (2, 3000)], of: nil)
        #expect(ProgressText.line(unknown, .sent, width: 80) == "3.0 kB sent, 1.5 kB/s")
        #expect(ProgressText.line(unknown, .received, width: 12) == "3.0 kB")
        #expect(ProgressText.line(unknown, .received, width: 4) == "")
    }

    @Test func `a transfer that starts over has its own rate`() {
        var meter = meter([(0, 0), (1, 9000), (2, 10_000)], of: 20_000)
        meter.note(100, of: 20_000, at: .init(nanoseconds: 3_000_000_000))
        #expect(meter.rate == nil && meter.timeLeft == nil)
        meter.note(300, of: 20_000, at: .init(nanoseconds: 5_000_000_000))
        #expect(meter.rate == 100 && meter.timeLeft == .seconds(197))
    }

    @Test func `a complete transfer has no remaining time`() {
        let whole = ProgressText.line(meter([(0, 0), (1, 1000)], of: 1000), width: 80)
        #expect(whole.hasSuffix("#] 1.0 kB of 1.0 kB, 1.0 kB/s"))
    }

    @Test func `a very slow transfer shows no remaining time`() {
        #expect(meter([(0, 0), (1, 1)], of: .max).timeLeft == nil)
        #expect(meter([(0, 0), (1, 10)], of: 5).timeLeft == nil)
        #expect(meter([(0, 0), (1, 10)], of: 10).timeLeft == .zero)
    }

    @Test func `only a terminal shows it, and one that can only write a line below the other gets few`() {
        #expect(ProgressStyle(isTerminal: false, type: "xterm") == .none)
        #expect(ProgressStyle(isTerminal: true, type: "xterm") == .redrawn)
        for type in [nil, "", "dumb"] { #expect(ProgressStyle(isTerminal: true, type: type) == .lines) }
    }
}
