import NetworkLab
import Testing

@testable import NetworkClientCore

/// Tests of the delays before a client of an event stream connects again.
@Suite struct ReconnectScheduleTests {
    /// Returns the longest delay of many.
    private func longest(_ schedule: ReconnectSchedule, _ retryTime: Duration?) -> Duration {
        var generator = SeededGenerator(seed: 1)
        return (0..<2_000).map { _ in schedule.delay(retryTime, using: &generator) }.max() ?? .zero
    }

    private func shortest(_ schedule: ReconnectSchedule, _ retryTime: Duration?) -> Duration {
        var generator = SeededGenerator(seed: 1)
        return (0..<2_000).map { _ in schedule.delay(retryTime, using: &generator) }.min() ?? .zero
    }

    @Test func `after a stream the delay is the retry time, three seconds unless the server sets it`() {
        let schedule = ReconnectSchedule()
        #expect(longest(schedule, nil) == .seconds(3) && shortest(schedule, nil) == .seconds(3))
        #expect(longest(schedule, .milliseconds(100)) == .milliseconds(100))
    }

    @Test func `the retry time has a minimum, which doubles up to three seconds with each stream without an event`() {
        var schedule = ReconnectSchedule()
        #expect(shortest(schedule, .zero) == .milliseconds(100) && longest(schedule, .zero) == .milliseconds(100))
        var delays: [Duration] = []
        for _ in 0..<100 {
            schedule.opened()
            delays.append(longest(schedule, .zero))
            #expect(longest(schedule, .seconds(5)) == .seconds(5) && longest(schedule, nil) == .seconds(3))
        }
        let expected = [200, 400, 800, 1_600, 3_000, 3_000].map { Duration.milliseconds($0) }
        #expect(delays.prefix(6).elementsEqual(expected))
        #expect(delays.last == .seconds(3))
        schedule.receivedEvent()
        #expect(longest(schedule, .zero) == .milliseconds(100))
    }

    @Test func `after failed attempts a random part is added, whose bound doubles up to a minute`() {
        var schedule = ReconnectSchedule()
        var bounds: [Int64] = []
        for _ in 0..<100 {
            schedule.failed()
            #expect(shortest(schedule, .seconds(5)) < .milliseconds(5_500))
            #expect(shortest(schedule, .seconds(5)) >= .seconds(5))
            // The longest of so many delays is nearly the bound: rounded up, it is the bound.
            bounds.append((longest(schedule, .seconds(5)) - .milliseconds(4_001)).components.seconds)
        }
        #expect(bounds.prefix(8).elementsEqual([1, 2, 4, 8, 16, 32, 60, 60]))
        #expect(bounds.allSatisfy { $0 <= 60 })
        schedule.opened()
        #expect(longest(schedule, .seconds(5)) == .seconds(5))
    }
}
