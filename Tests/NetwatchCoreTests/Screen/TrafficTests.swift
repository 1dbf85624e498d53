import ReachabilityCore
import Testing

@testable import NetwatchCore

@Suite struct TrafficTests {
    @Test func `rates follow from two counters`() {
        var meter = TrafficMeter()
        meter.take([2: counters(1000, 0)], at: second(10))
        #expect(meter.shown[2] == nil)
        meter.take([2: counters(5000, 2_000_000)], at: second(12))
        #expect(meter.shown[2]?.received == "2.0k" && meter.shown[2]?.sent == "1.0M")
        #expect(meter.shown[2]?.receivedBars == [2] && meter.shown[2]?.sentBars == [5] && meter.shown[2]?.bars == [5])
    }

    @Test func `reset counters give no rate, and are the next base`() {
        var meter = TrafficMeter()
        meter.take([2: counters(5000, 5000)], at: second(10))
        meter.take([2: counters(7000, 5000)], at: second(12))
        let before = meter.shown
        meter.take([2: counters(10, 10)], at: second(14))
        #expect(meter.shown == before)
        meter.take([2: counters(2010, 10)], at: second(16))
        #expect(meter.shown[2]?.received == "1.0k" && meter.shown[2]?.receivedBars == [2, 2])
    }

    @Test func `a clock that stands still or goes back gives no rate`() {
        var meter = TrafficMeter()
        meter.take([2: counters(0, 0)], at: second(10))
        meter.take([2: counters(9, 9)], at: second(10))
        meter.take([2: counters(9, 9)], at: second(5))
        #expect(meter.shown.isEmpty)
    }

    @Test func `an idle graph looks the same from the start, and a pause changes no colour`() {
        var story = Story.wifi()
        let size = ScreenSize(columns: 200, rows: 60)
        func line(_ name: String) -> StyledLine? {
            story.view.frame(size).lines.first { $0.text.contains(name + "  ") }
        }
        let idle = line("eth0")
        #expect(idle?.text.contains(String(repeating: "▁", count: 20)) == true)
        for traffic in [5_000, 0, 0, 5_000] as [UInt64] {
            story.wait(.seconds(1))
            story.count(received: traffic, sent: traffic)
            let graphs = line("wlan0")?.runs.filter { $0.text.contains("▁") } ?? []
            #expect(line("eth0") == idle && graphs.count == 2 && graphs.allSatisfy { $0.style.role == .graph })
        }
    }

    @Test func `a removed interface is forgotten`() {
        var meter = TrafficMeter()
        for (at, indexes) in [(1, [2, 3]), (2, [2, 3]), (3, [3]), (4, [2, 3])] as [(Int64, [InterfaceIndex])] {
            let counted = Dictionary(uniqueKeysWithValues: indexes.map { ($0, counters(UInt64(at) * 100, 0)) })
            meter.take(counted, at: second(at))
        }
        #expect(meter.shown[2] == nil && meter.shown[3]?.receivedBars.count == 3)
    }

    @Test func `a steady rate is shown unchanged, a growing one without delay`() {
        var meter = TrafficMeter()
        var total: UInt64 = 0
        var shown: Set<String> = []
        for at in Int64(0)..<60 {
            total += 1040 + UInt64(at % 5) * 10
            meter.take([2: counters(total, 0)], at: second(at))
            if let text = meter.shown[2]?.received { shown.insert(text) }
        }
        #expect(shown.count == 1)
        for at in Int64(60)..<200 {
            total += 1000 + UInt64(at - 59) * 10
            meter.take([2: counters(total, 0)], at: second(at))
        }
        #expect(["2.3k", "2.4k"].contains(meter.shown[2]?.received))
    }

    @Test(arguments: [(0.0, 0), (0.1, 1), (999, 1), (1000, 2), (99_999, 3), (1e8, 7), (1e99, 7)] as [(Double, UInt8)])
    func `each step of a bar means ten times the rate`(rate: Double, height: UInt8) {
        #expect(Traffic.height(rate) == height)
    }

    @Test func `the largest counters cause no overflow`() {
        var meter = TrafficMeter()
        meter.take([2: counters(0, 0)], at: .init(nanoseconds: 0))
        meter.take([2: counters(.max, .max)], at: .init(nanoseconds: 1))
        #expect(meter.shown[2]?.receivedBars == [7])
    }

    private func counters(_ received: UInt64, _ sent: UInt64) -> TrafficCounters {
        .init(receivedBytes: received, sentBytes: sent)
    }

    private func second(_ second: Int64) -> Instant { .init(nanoseconds: second * 1_000_000_000) }
}
