import RequestGate
import Testing

struct CircuitBreakerTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func second(_ seconds: Double) -> BootInstant { start.advanced(by: .seconds(seconds)) }

    /// Returns a breaker after 90 successes and 9 failures within one second.
    private func nearlyOpen() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<90 { breaker.succeeded(at: start) }
        for _ in 0..<9 { breaker.failed(at: second(1)) }
        return breaker
    }

    @Test func `it opens when a tenth of a hundred calls failed`() {
        var breaker = nearlyOpen()
        #expect(breaker.allows(at: second(1)) == true)
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(1)) == false)
        #expect(breaker.opens(at: second(1)) == second(6))
    }

    @Test func `it does not open below a hundred calls`() {
        var breaker = CircuitBreaker()
        for _ in 0..<99 { breaker.failed(at: start) }
        #expect(breaker.allows(at: start) == true)
        breaker.failed(at: start)
        #expect(breaker.allows(at: start) == false)
    }

    @Test func `it does not open below a tenth of failures`() {
        var breaker = CircuitBreaker()
        for _ in 0..<91 { breaker.succeeded(at: start) }
        for _ in 0..<10 { breaker.failed(at: start) }
        #expect(breaker.allows(at: start) == true)
    }

    @Test func `calls expire after half a minute`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(40))
        #expect(breaker.allows(at: second(40)) == true)
        for _ in 0..<98 { breaker.failed(at: second(40)) }
        #expect(breaker.allows(at: second(40)) == true)
        breaker.failed(at: second(40))
        #expect(breaker.allows(at: second(40)) == false)
    }

    @Test func `after the break, one trial request is admitted, and its success closes the breaker`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(5.9)) == false)
        #expect(breaker.opens(at: second(6)) == nil)
        #expect(breaker.allows(at: second(6)) == true)
        #expect(breaker.allows(at: second(6)) == false)
        breaker.succeeded(at: second(7))
        #expect(breaker.allows(at: second(7)) == true)
        #expect(breaker.allows(at: second(7)) == true)
        // The counts were reset: another failure is one out of one call.
        breaker.failed(at: second(7))
        #expect(breaker.allows(at: second(7)) == true)
    }

    @Test func `a failed trial opens it for another break`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(6)) == true)
        breaker.failed(at: second(7))
        #expect(breaker.allows(at: second(7)) == false)
        #expect(breaker.opens(at: second(7)) == second(12))
    }

    @Test func `a trial without a result does not keep it open forever`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(6)) == true)
        #expect(breaker.opens(at: second(8)) == second(11))
        #expect(breaker.allows(at: second(11)) == true)
        #expect(breaker.allows(at: second(11)) == false)
    }

    @Test func `results of earlier requests are ignored while it is open`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        breaker.succeeded(at: second(2))
        breaker.failed(at: second(3))
        #expect(breaker.opens(at: second(3)) == second(6))
    }

    @Test func `invalid policies are harmless`() {
        var breaker = CircuitBreaker(
            .init(failureRatio: -1, minimumCalls: -1, samplingDuration: .seconds(-1), breakDuration: .seconds(-1))
        )
        breaker.succeeded(at: start)
        breaker.failed(at: start)
        #expect(breaker.allows(at: start) == true)
    }
}
