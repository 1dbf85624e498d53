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

    @Test func `it opens at a tenth of a hundred`() {
        var breaker = nearlyOpen()
        #expect(breaker.allows(at: second(1)) == true)
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(1)) == false)
        #expect(breaker.opens(at: second(1)) == second(6))
    }

    @Test func `less than a hundred calls say nothing`() {
        var breaker = CircuitBreaker()
        for _ in 0..<99 { breaker.failed(at: start) }
        #expect(breaker.allows(at: start) == true)
        breaker.failed(at: start)
        #expect(breaker.allows(at: start) == false)
    }

    @Test func `less than a tenth of failures says nothing`() {
        var breaker = CircuitBreaker()
        for _ in 0..<91 { breaker.succeeded(at: start) }
        for _ in 0..<10 { breaker.failed(at: start) }
        #expect(breaker.allows(at: start) == true)
    }

    @Test func `what is half a minute ago is forgotten`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(40))
        #expect(breaker.allows(at: second(40)) == true)
        for _ in 0..<98 { breaker.failed(at: second(40)) }
        #expect(breaker.allows(at: second(40)) == true)
        breaker.failed(at: second(40))
        #expect(breaker.allows(at: second(40)) == false)
    }

    @Test func `after the break one is let through, whose success closes it`() {
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

    @Test func `the failure of the one on trial opens it for another break`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(6)) == true)
        breaker.failed(at: second(7))
        #expect(breaker.allows(at: second(7)) == false)
        #expect(breaker.opens(at: second(7)) == second(12))
    }

    @Test func `one on trial of which nothing is heard does not keep it open for ever`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        #expect(breaker.allows(at: second(6)) == true)
        #expect(breaker.opens(at: second(8)) == second(11))
        #expect(breaker.allows(at: second(11)) == true)
        #expect(breaker.allows(at: second(11)) == false)
    }

    @Test func `what ends while it is open went out before, and changes nothing`() {
        var breaker = nearlyOpen()
        breaker.failed(at: second(1))
        breaker.succeeded(at: second(2))
        breaker.failed(at: second(3))
        #expect(breaker.opens(at: second(3)) == second(6))
    }

    @Test func `policies without sense do no harm`() {
        var breaker = CircuitBreaker(
            .init(failureRatio: -1, minimumCalls: -1, samplingDuration: .seconds(-1), breakDuration: .seconds(-1))
        )
        breaker.succeeded(at: start)
        breaker.failed(at: start)
        #expect(breaker.allows(at: start) == true)
    }
}
