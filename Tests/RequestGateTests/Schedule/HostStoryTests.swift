import NetworkClientCore
import RequestGate
import Testing

/// Tests of several hosts: the order of requests, the circuit breaker, and the removal of hosts.
struct HostStoryTests {
    @Test func `requests start by priority, then in order of arrival`() {
        var story = SchedulerStory()
        let low = story.submit(priority: .low)
        let normal = [story.submit(), story.submit()]
        let high = story.submit(priority: .high)
        story.open()
        var order: [RequestScheduler.RequestID] = []
        while let next = story.started().first {
            order.append(next)
            story.fail(next, .permanent)
        }
        #expect(order == [high] + normal + [low])
    }

    @Test func `waiting raises the priority`() {
        var story = SchedulerStory()
        let low = story.submit(priority: .low)
        story.pass(.seconds(89))
        let normal = story.submit()
        let high = story.submit(priority: .high)
        story.pass(.seconds(1))
        story.open()
        #expect(story.started() == [low])
        story.fail(low, .permanent)
        #expect(story.started() == [high])
        story.fail(high, .permanent)
        #expect(story.started() == [normal])
    }

    @Test func `of equal requests, one that was released before starts first`() {
        var story = SchedulerStory(isOpen: true)
        let old = story.submit()
        _ = story.started()
        story.close()
        let new = story.submit()
        story.end(old, .init(.pathLost, .neverSent), .waitForPath)
        story.open()
        #expect(story.started() == [old])
        story.fail(old, attempt: 2, .permanent)
        #expect(story.started() == [new])
    }

    @Test func `after an outage at most 32 hosts are probed at the same time`() {
        var story = SchedulerStory()
        let gates = (0..<40).map { _ in
            story.scheduler.addGate(of: story.scheduler.addHost(), isOpen: false, at: story.moment)
        }
        let requests = gates.map { story.submit(gate: $0) }
        for gate in gates { story.open(gate) }
        #expect(story.started() == Array(requests.prefix(32)))
        story.serve(requests[0])
        #expect(story.started() == Array(requests[32..<34]))
        #expect(story.scheduler.leases == 33)
    }

    @Test func `hosts that don't respond delay others by two seconds`() {
        var story = SchedulerStory()
        let gates = (0..<40).map { _ in
            story.scheduler.addGate(of: story.scheduler.addHost(), isOpen: false, at: story.moment)
        }
        let requests = gates.map { story.submit(gate: $0) }
        for gate in gates { story.open(gate) }
        story.pass(.seconds(2))
        #expect(story.started() == requests)
    }

    @Test func `hosts take turns within the session's window`() {
        var story = SchedulerStory()
        let gates = (0..<40).map { _ in
            story.scheduler.addGate(of: story.scheduler.addHost(), isOpen: false, at: story.moment)
        }
        var hostOf: [RequestScheduler.RequestID: Int] = [:]
        for (number, gate) in gates.enumerated() {
            for _ in 0..<10 { hostOf[story.submit(gate: gate)] = number }
        }
        for gate in gates { story.open(gate) }
        var served: [Int: Int] = [:]
        while served.values.reduce(0, +) < 200 {
            for start in story.takeStarts() {
                if let host = hostOf[start.id] { served[host, default: 0] += 1 }
                story.serve(start.id)
            }
            if let next = story.next { story.pass(next - story.now) }
        }
        #expect(served.count == 40)
    }

    @Test func `the session's window ends with the last host's`() {
        var story = SchedulerStory()
        let other = story.scheduler.addGate(of: story.scheduler.addHost(), isOpen: true, at: story.moment)
        let busy = story.submit(gate: other)
        let waiting = story.submit()
        story.open()
        story.serve(waiting)
        story.serve(busy)
        _ = story.started()
        let many = (0..<100).map { _ in story.submit(gate: other) }
        #expect(story.started() == many)
    }

    // MARK: The breaker

    private static let policy = CircuitBreakerPolicy(failureRatio: 0.5, minimumCalls: 4, breakDuration: .seconds(5))

    private func broken() -> SchedulerStory {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        for _ in 0..<4 { story.fail(story.submit(), policy: .never) }
        _ = story.started()
        return story
    }

    @Test func `each request fails once while the breaker is open`() {
        var story = broken()
        let requests = (0..<3).map { _ in story.submit() }
        #expect(story.started() == [])
        #expect(story.takeEnds() == requests.map { .init(id: $0, failure: .breaker, at: .zero) })
        #expect(story.next == nil)
    }

    @Test func `one request closes the breaker after the break`() {
        var story = broken()
        story.pass(.seconds(5))
        let trial = story.submit()
        let other = story.submit()
        #expect(story.started() == [trial])
        #expect(story.takeEnds().map(\.id) == [other])
        story.serve(trial)
        let last = story.submit()
        #expect(story.started() == [last])
    }

    @Test func `a 404 counts as a success for the breaker`() {
        var story = broken()
        story.pass(.seconds(5))
        story.fail(story.submit(), .status(404), .answered)
        _ = story.started()
        let next = story.submit()
        #expect(story.started() == [next])
    }

    @Test func `a retry that would meet an open breaker is rejected`() {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        let late = story.submit()
        for _ in 0..<4 { story.fail(story.submit(), policy: .never) }
        #expect(story.fail(late, policy: .init(baseDelay: .seconds(1))) == .giveUp(because: .breaker))
    }

    // MARK: Forgetting

    @Test func `slots are reused, and identifiers are not`() {
        var story = SchedulerStory(isOpen: true)
        let first = story.submit()
        story.cancel(first)
        let second = story.submit()
        #expect(second.slot == first.slot)
        #expect(second != first)
        #expect(!story.scheduler.isCurrent(first))
    }

    @Test func `unused gates and hosts are removed, and their numbers are reused`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        #expect(story.scheduler.requests(of: story.gate) == 1)
        story.scheduler.forget(gate: story.gate)
        #expect(story.scheduler.requests(of: story.gate) == 1)
        story.serve(request)
        #expect(!story.scheduler.isForgettable(story.host))
        story.scheduler.forget(gate: story.gate)
        #expect(story.scheduler.isForgettable(story.host))
        for _ in 0..<2 {
            story.scheduler.forget(story.host)
            story.scheduler.forget(gate: story.gate)
        }
        let hosts = [story.scheduler.addHost(), story.scheduler.addHost()]
        #expect(hosts[0] == story.host)
        #expect(hosts[1] != story.host)
        let gates = hosts.map { story.scheduler.addGate(of: $0, isOpen: true, at: story.moment) }
        #expect(gates[0] == story.gate)
        #expect(gates[1] != story.gate)
        let again = gates.map { story.submit(gate: $0) }
        #expect(story.started().suffix(2) == again)
    }

    @Test func `a host with a hold or a partly spent budget is not removed`() {
        var story = SchedulerStory(isOpen: true)
        story.fail(story.submit(), .status(429), .answered, retryAfter: .seconds(5), policy: .never)
        story.scheduler.forget(gate: story.gate)
        #expect(!story.scheduler.isForgettable(story.host))
        story.pass(.seconds(5))
        #expect(story.scheduler.isForgettable(story.host))
    }

    @Test func `a breaker without failures does not keep its host`() {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        story.serve(story.submit())
        story.scheduler.forget(gate: story.gate)
        #expect(story.scheduler.isForgettable(story.host))
    }
}
