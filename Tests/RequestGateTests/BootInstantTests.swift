import RequestGate
import Testing

struct BootInstantTests {
    @Test func `an overflow is never`() {
        let late = BootInstant(nanoseconds: .max - 5)
        #expect(late.advanced(by: .nanoseconds(4)).nanoseconds == .max - 1)
        #expect(late.advanced(by: .seconds(1)) == .never)
        #expect(BootInstant.never.advanced(by: .seconds(-1)) == .never)
        #expect(BootInstant(nanoseconds: 1).advanced(by: .seconds(Int64.max)) == .never)
    }
}
