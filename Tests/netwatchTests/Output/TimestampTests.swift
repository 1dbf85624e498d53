import NetwatchCore
import Testing

@testable import netwatch

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000000Z"), (1_795_204_800, 123_456_789, "2026-11-20T20:00:00.123456Z"),
            (951_782_399, 999_999_999, "2000-02-28T23:59:59.999999Z"), (951_782_400, 0, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, 0, "2000-03-01T00:00:00.000000Z"), (4_107_542_399, 0, "2100-02-28T23:59:59.000000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000000Z"), (1_709_164_800, 0, "2024-02-29T00:00:00.000000Z"),
            (1_735_689_599, 0, "2024-12-31T23:59:59.000000Z"), (-1, 0, "1969-12-31T23:59:59.000000Z"),
            (-2_203_977_600, 0, "1900-02-28T00:00:00.000000Z"), (-2_203_891_200, 0, "1900-03-01T00:00:00.000000Z"),
            (253_402_300_799, 1000, "9999-12-31T23:59:59.000001Z"), (-62_167_219_200, 0, "0000-01-01T00:00:00.000000Z"),
        ] as [(Int64, Int64, String)]
    )
    func `a timestamp is formatted in UTC`(seconds: Int64, nanoseconds: Int64, text: String) {
        #expect(Timestamp(seconds: seconds, nanoseconds: nanoseconds).utcText == text)
    }

    @Test(arguments: [
        (0, "2024-02-29T00:00:00.000005+00:00"), (3600, "2024-02-29T01:00:00.000005+01:00"),
        (-60, "2024-02-28T23:59:00.000005-00:01"), (-12_600, "2024-02-28T20:30:00.000005-03:30"),
        (50_400, "2024-02-29T14:00:00.000005+14:00"), (20_700, "2024-02-29T05:45:00.000005+05:45"),
        (1172, "2024-02-29T00:19:00.000005+00:19"), (-1172, "2024-02-28T23:41:00.000005-00:19"),
    ])
    func `a timestamp is formatted at an offset`(offset: Int, text: String) {
        #expect(Timestamp(seconds: 1_709_164_800, nanoseconds: 5999).localText(offset: offset) == text)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (1_500_000, "1970-01-01T00:00:00.001500Z"),
            (-1, "1969-12-31T23:59:59.999999Z"), (Int64.max, "2262-04-11T23:47:16.854775Z"),
            (Int64.min, "1677-09-21T00:12:43.145224Z"),
        ] as [(Int64, String)]
    )
    func `a capture's nanoseconds are formatted`(nanoseconds: Int64, text: String) {
        #expect(Timestamp(nanosecondsSinceEpoch: nanoseconds).utcText == text)
    }

    /// Every day of 800 years, counted one by one.
    @Test func `each day follows the one before`() {
        var expected = (year: Int64(1600), month: Int64(1), day: Int64(1))
        for number in Int64(-135_140)..<(-135_140 + 2 * 146_097) {
            let day = CivilDay(daysSinceEpoch: number)
            guard (day.year, day.month, day.day) == expected else {
                Issue.record("day \(number) is \(day), not \(expected)")
                return
            }
            expected = Self.dayAfter(expected)
        }
        #expect(expected == (2400, 1, 1))
    }

    private static func dayAfter(_ day: (year: Int64, month: Int64, day: Int64)) -> (Int64, Int64, Int64) {
        let isLeap = day.year % 4 == 0 && (day.year % 100 != 0 || day.year % 400 == 0)
        let length: Int64 = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Int(day.month) - 1]
        if day.day < length { return (day.year, day.month, day.day + 1) }
        return day.month < 12 ? (day.year, day.month + 1, 1) : (day.year + 1, 1, 1)
    }
}
