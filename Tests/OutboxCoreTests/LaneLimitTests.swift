import OutboxCore
import Testing

/// The hours in which a lane sends.
@Suite struct AllowedHoursTests {
    @Test(arguments: [(9, 0), (9, 30), (16, 59)])
    func `within the hours there is no delay`(hour: Int, minute: Int) {
        #expect(AllowedHours(from: 9, to: 17).delay(atSecondOfDay: hour * 3_600 + minute * 60) == .zero)
    }

    @Test func `outside the hours the delay lasts until they begin`() {
        let hours = AllowedHours(from: 9, to: 17)
        #expect(hours.delay(atSecondOfDay: 8 * 3_600) == .seconds(3_600))
        #expect(hours.delay(atSecondOfDay: 17 * 3_600) == .seconds(16 * 3_600))
        #expect(hours.delay(atSecondOfDay: 86_399) == .seconds(9 * 3_600 + 1))
    }

    @Test func `hours of the night pass midnight`() {
        let hours = AllowedHours(from: 22, to: 6)
        #expect([0, 5 * 3_600, 22 * 3_600, 86_399].allSatisfy { hours.delay(atSecondOfDay: $0) == .zero })
        #expect(hours.delay(atSecondOfDay: 6 * 3_600) == .seconds(16 * 3_600))
    }

    @Test(arguments: [(24, 3), (-1, 3), (3, 25), (3, 3)])
    func `impossible hours are a problem`(start: Int, end: Int) {
        #expect(AllowedHours(from: start, to: end).problem?.contains("from \(start) to \(end)") == true)
    }
}

/// The bytes a day over expensive paths.
@Suite struct DailyBudgetTests {
    private func time(_ hours: Int64) -> BoxTime { .init(nanoseconds: hours * 3_600 * 1_000_000_000) }

    @Test func `bytes are counted for 24 hours from the first`() {
        var budget = DailyBudget()
        #expect(budget.room(of: 100, at: time(0)) == 100 && budget.end == nil)
        budget.spend(60, at: time(5))
        budget.spend(30, at: time(28))
        #expect(budget.room(of: 100, at: time(28)) == 10)
        #expect(budget.end == time(29))
        #expect(budget.room(of: 100, at: time(29)) == 100)
        budget.spend(1, at: time(30))
        #expect(budget.room(of: 100, at: time(30)) == 99 && budget.end == time(54))
    }

    @Test func `a day that is over has no end to come`() {
        var budget = DailyBudget()
        #expect(budget.end(after: time(0)) == nil)
        budget.spend(1, at: time(5))
        #expect(budget.end(after: time(28)) == time(29))
        #expect(budget.end(after: time(29)) == nil)
    }

    @Test func `a limit that is lowered leaves nothing, and never less`() {
        var budget = DailyBudget()
        budget.spend(.max, at: time(0))
        budget.spend(.max, at: time(1))
        #expect(budget.room(of: 10, at: time(2)) == 0)
    }
}
