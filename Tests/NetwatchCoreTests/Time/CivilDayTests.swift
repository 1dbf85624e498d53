import NetwatchCore
import Testing

@Suite struct CivilDayTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (47_540, 2100, 2, 28),
            (47_541, 2100, 3, 1), (20_777, 2026, 11, 20),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func `a number of days is converted to a date`(days: Int64, year: Int64, month: Int64, day: Int64) {
        let civil = CivilDay(daysSinceEpoch: days)
        #expect(civil.year == year && civil.month == month && civil.day == day)
    }

    @Test func `moments are ordered, also before 1970`() {
        let moments = [-1_500_000_000, -1_000_000_000, -1, 0, 1, 1_000_000_000].map {
            Timestamp(nanosecondsSinceEpoch: $0)
        }
        #expect(moments.sorted() == moments)
        #expect(moments[0].seconds == -2 && moments[0].nanoseconds == 500_000_000)
    }
}
