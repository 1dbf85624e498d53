import ReachabilityCore
import Testing

struct InstantTests {
    @Test func `an instant is advanced by seconds and their fractions`() {
        let instant = Instant(nanoseconds: 5)
        #expect(instant.advanced(by: .nanoseconds(1_500_000_001)).nanoseconds == 1_500_000_006)
        #expect(instant.advanced(by: .milliseconds(-1500)).nanoseconds == -1_499_999_995)
    }

    @Test func `an overflow is clamped`() {
        let late = Instant(nanoseconds: .max - 5)
        #expect(late.advanced(by: .nanoseconds(4)).nanoseconds == .max - 1)
        #expect(late.advanced(by: .seconds(1)).nanoseconds == .max)
        #expect(Instant(nanoseconds: 1).advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(Instant(nanoseconds: 1).advanced(by: .seconds(Int64.min)).nanoseconds == .min)
    }
}
