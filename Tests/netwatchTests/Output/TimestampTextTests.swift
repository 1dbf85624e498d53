import CommandLineSupport
import LinuxSystem
import Locking
import NetwatchCore
import Testing

@testable import netwatch

@Suite struct TimestampTextTests {
    /// The moments, formatted in order by the same formatter.
    private func texts(_ moments: [(Int64, Int64)], by clock: consuming TimestampText) -> [String] {
        moments.map { seconds, nanoseconds in
            var line = LineBuffer()
            clock.write(.init(seconds: seconds, nanoseconds: nanoseconds), to: &line)
            return line.text
        }
    }

    @Test func `moments in the next minute, hour, day, month and year are formatted, and earlier ones`() {
        let moments: [(Int64, Int64)] = [
            (1_735_689_540, 1000), (1_735_689_599, 999_999_999), (1_735_689_600, 0), (1_735_689_599, 12_000),
            (1_735_689_600, 1_234_000), (-1, 0), (0, 0),
        ]
        #expect(
            texts(moments, by: .utc) == [
                "2024-12-31T23:59:00.000001Z", "2024-12-31T23:59:59.999999Z", "2025-01-01T00:00:00.000000Z",
                "2024-12-31T23:59:59.000012Z", "2025-01-01T00:00:00.001234Z", "1969-12-31T23:59:59.000000Z",
                "1970-01-01T00:00:00.000000Z",
            ]
        )
    }

    @Test func `the offset is queried once in each minute`() {
        let asked = Lock<[Int64]>([])
        let clock = TimestampText { time in
            asked.withLock { $0.append(time.seconds) }
            return time.seconds < 60 ? -34_200 : 37_800
        }
        let moments: [(Int64, Int64)] = [(0, 0), (1, 0), (59, 999_999_999), (60, 0), (61, 0), (30, 0)]
        #expect(
            texts(moments, by: clock) == [
                "1969-12-31T14:30:00.000000-09:30", "1969-12-31T14:30:01.000000-09:30",
                "1969-12-31T14:30:59.999999-09:30", "1970-01-01T10:31:00.000000+10:30",
                "1970-01-01T10:31:01.000000+10:30", "1969-12-31T14:30:30.000000-09:30",
            ]
        )
        #expect(asked.withLock { $0 } == [0, 60, 30])
    }

    @Test func `a moment is formatted in the machine's time zone`() {
        let time = Timestamp(seconds: 1_795_204_800, nanoseconds: 1000)
        let text = texts([(time.seconds, time.nanoseconds)], by: .local)
        #expect(text == [time.localText(offset: SystemClock.utcOffset(at: time))])
    }
}
