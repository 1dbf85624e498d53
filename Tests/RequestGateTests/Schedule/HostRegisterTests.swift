import NetworkClientCore
import RequestGate
import Testing

/// Tests of how long unused hosts are kept.
struct HostRegisterTests {
    private var story = SchedulerStory()
    private var register = HostRegister<Int>()

    /// Adds a request that is to be retried, which takes tokens from its host's budget.
    private mutating func open(_ name: Int) -> (RequestScheduler.GateID, RequestScheduler.RequestID) {
        let host = register.number(of: name, in: &story.scheduler, at: story.moment)
        let gate = story.scheduler.addGate(of: host, isOpen: true, at: story.moment)
        let request = story.submit(gate: gate)
        story.fail(request, policy: .init(baseDelay: .seconds(60)))
        return (gate, request)
    }

    private mutating func close(_ name: Int, _ gate: RequestScheduler.GateID, _ request: RequestScheduler.RequestID) {
        story.cancel(request)
        story.scheduler.forget(gate: gate)
        if let host = register[name] { register.release(host, in: &story.scheduler, at: story.moment) }
    }

    /// Leaves hosts whose budget is not full.
    private mutating func spoil(_ names: Range<Int>) {
        for name in names {
            let (gate, request) = open(name)
            close(name, gate, request)
        }
    }

    @Test mutating func `a host without failures is removed immediately`() {
        let host = register.number(of: 1, in: &story.scheduler, at: story.moment)
        #expect(register[1] == host)
        #expect(register.number(of: 1, in: &story.scheduler, at: story.moment) == host)
        register.release(host, in: &story.scheduler, at: story.moment)
        #expect(register[1] == nil)
        #expect(register.count == 0)
        // Its number is reused.
        #expect(register.number(of: 2, in: &story.scheduler, at: story.moment) == host)
    }

    @Test mutating func `a host whose budget is not full is kept for ten minutes`() {
        spoil(0..<1_000)
        #expect(register.count == 1_000)
        story.pass(.seconds(599))
        spoil(1_000..<3_000)
        #expect(register.count == 3_000)
        story.pass(.seconds(1))
        spoil(3_000..<5_000)
        #expect(register.count == 4_000)
        #expect(register[0] == nil && register[1_000] != nil)
        story.pass(.seconds(600))
        spoil(5_000..<10_000)
        #expect(register.count < 6_000)
        #expect(register[1_000] == nil && register[9_999] != nil)
    }

    @Test mutating func `a host with current or recent requests is kept`() {
        let (gate, request) = open(0)
        spoil(1..<100)
        let (secondGate, secondRequest) = open(1)
        story.pass(.seconds(1_000))
        close(1, secondGate, secondRequest)
        spoil(100..<1_000)
        #expect(register[0] != nil && register[1] != nil)
        #expect(register[2] == nil)
        #expect(story.scheduler.requests(of: gate) == 1)
        close(0, gate, request)
    }

    @Test mutating func `a host with a longer Retry-After is kept until its end`() {
        let host = register.number(of: 0, in: &story.scheduler, at: story.moment)
        let gate = story.scheduler.addGate(of: host, isOpen: true, at: story.moment)
        let request = story.submit(gate: gate)
        story.fail(request, .status(503), .answered, retryAfter: .seconds(3_600), policy: .never)
        close(0, gate, request)
        story.pass(.seconds(1_000))
        spoil(1..<1_000)
        #expect(register[0] == host)
        story.pass(.seconds(3_000))
        spoil(1_000..<3_000)
        #expect(register[0] == nil)
    }
}
