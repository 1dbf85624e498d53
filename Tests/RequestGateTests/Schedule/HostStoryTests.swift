import NetworkClientCore
import RequestGate
import Testing

/// Tests of several hosts: the order of requests, the circuit breaker, and the removal of hosts.
struct HostStoryTests {
    @Test func `the more urgent go first, and of those the first come`() {
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

    @Test func `who waits grows more urgent`() {
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

    @Test func `of equals, who was under way before goes first`() {
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

    @Test func `after an outage no more than 32 hosts are tried at once`() {
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

    @Test func `hosts that do not answer keep the others for two seconds`() {
        var story = SchedulerStory()
        let gates = (0..<40).map { _ in
            story.scheduler.addGate(of: story.scheduler.addHost(), isOpen: false, at: story.moment)
        }
        let requests = gates.map { story.submit(gate: $0) }
        for gate in gates { story.open(gate) }
        story.pass(.seconds(2))
        #expect(story.started() == requests)
    }

    @Test func `under the session's window, hosts take turns`() {
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

    @Test func `the session's window goes with the last host's`() {
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

    private static let policy = CircuitBreaker.Policy(failureRatio: 0.5, minimumCalls: 4, breakDuration: .seconds(5))

    private func broken() -> SchedulerStory {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        for _ in 0..<4 { story.fail(story.submit(), policy: .never) }
        _ = story.started()
        return story
    }

    @Test func `while the breaker is open requests fail, each once`() {
        var story = broken()
        let requests = (0..<3).map { _ in story.submit() }
        #expect(story.started() == [])
        #expect(story.takeEnds() == requests.map { .init(id: $0, failure: .breaker, at: .zero) })
        #expect(story.next == nil)
    }

    @Test func `one tries again after the break, and closes it`() {
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

    @Test func `a server that says what it has not is well`() {
        var story = broken()
        story.pass(.seconds(5))
        story.fail(story.submit(), .status(404), .answered)
        _ = story.started()
        let next = story.submit()
        #expect(story.started() == [next])
    }

    @Test func `what would come back to an open breaker is given up`() {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        let late = story.submit()
        for _ in 0..<4 { story.fail(story.submit(), policy: .never) }
        #expect(story.fail(late, policy: .init(baseDelay: .seconds(1))) == .giveUp(because: .breaker))
    }

    // MARK: Forgetting

    @Test func `places are used again, and numbers of requests are not`() {
        var story = SchedulerStory(isOpen: true)
        let first = story.submit()
        story.cancel(first)
        let second = story.submit()
        #expect(second.slot == first.slot)
        #expect(second != first)
        #expect(!story.scheduler.isCurrent(first))
    }

    @Test func `gates and hosts that nobody needs are forgotten, and their numbers used again`() {
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

    @Test func `a host that is to be left alone is not forgotten, nor one whose budget lacks something`() {
        var story = SchedulerStory(isOpen: true)
        story.fail(story.submit(), .status(429), .answered, retryAfter: .seconds(5), policy: .never)
        story.scheduler.forget(gate: story.gate)
        #expect(!story.scheduler.isForgettable(story.host))
        story.pass(.seconds(5))
        #expect(story.scheduler.isForgettable(story.host))
    }

    @Test func `a breaker against which nothing is held does not keep its host`() {
        var story = SchedulerStory(isOpen: true, breaker: Self.policy)
        story.serve(story.submit())
        story.scheduler.forget(gate: story.gate)
        #expect(story.scheduler.isForgettable(story.host))
    }
}
