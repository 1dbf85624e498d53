import Testing

@testable import NetwatchCore

@Suite struct WordsForNumbersTests {
    @Test(arguments: [
        (0, "0"), (0.4, "0"), (1, "1"), (99, "99"), (123, "120"), (994, "990"), (995, "1.0k"), (1234, "1.2k"),
        (9949, "9.9k"),
        (9951, "10k"), (123_456, "120k"), (994_999, "990k"), (995_000, "1.0M"), (4.5e7, "45M"), (1.2e9, "1.2G"),
        (3e18, "3.0E"), (1e30, "990E"),
    ])
    func `rates have two digits`(rate: Double, text: String) {
        #expect(AmountText.rate(rate) == text)
    }

    @Test func `an invalid rate has no text`() {
        for rate in [-1, Double.nan, -Double.infinity] { #expect(AmountText.rate(rate) == "0") }
        #expect(AmountText.size(bytes: 12_345) == "12 kB")
    }

    @Test(arguments: [
        (-5, "0 s"), (0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"),
        (172_799, "47 h"), (172_800, "2 d"),
    ])
    func `ages have one unit`(seconds: Int, text: String) {
        #expect(DurationText.age(.seconds(seconds)) == text)
    }

    @Test(arguments: [
        (-1, "0 ms"), (0, "0 ms"), (999, "999 ms"), (1000, "1 s"), (4250, "4.2 s"), (9999, "9.9 s"), (10_500, "10 s"),
        (60_000, "1 min"), (200_999, "3 min 20 s"), (7_500_000, "2 h 5 min"), (273_600_000, "3 d 4 h"),
    ])
    func `durations have at most two units`(milliseconds: Int, text: String) {
        #expect(DurationText.length(.milliseconds(milliseconds)) == text)
    }

    @Test(arguments: [
        (0, "0 us"), (999, "999 us"), (1000, "1.0 ms"), (9999, "9.9 ms"), (10_000, "10 ms"),
        (999_999, "999 ms"), (3_400_000, "3.4 s"),
    ])
    func `latencies have at most three digits`(microseconds: Int, text: String) {
        #expect(DurationText.latency(.microseconds(microseconds)) == text)
    }

    @Test func `the longest durations have a text`() {
        for duration in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
            #expect(!DurationText.length(duration).isEmpty && !DurationText.latency(duration).isEmpty)
        }
    }
}
