import NetworkClientCore
import RequestGate
import Testing

/// Tests of waiting times and of deadlines.
struct WaitingStoryTests {
    @Test func `a request whose wait timeout expires fails with its waiting time`() {
        var story = SchedulerStory()
        let request = story.submit(waitTimeout: .seconds(5))
        story.pass(.seconds(60))
        #expect(
            story.takeEnds() == [.init(id: request, failure: .noPath(waited: .seconds(5)), at: .seconds(5))]
        )
        #expect(story.scheduler.count == 0)
    }

    @Test func `only the sum of all waits counts`() {
        var story = SchedulerStory()
        let request = story.submit(waitTimeout: .seconds(5))
        story.pass(.seconds(3))
        story.open()
        story.respond(request)
        story.pass(.seconds(100))
        story.close()
        story.end(request, .init(.pathLost, .neverSent), .waitForPath)
        story.pass(.milliseconds(1999))
        #expect(story.takeEnds() == [])
        story.pass(.milliseconds(1))
        #expect(story.takeEnds().map(\.failure) == [.noPath(waited: .seconds(5))])
    }

    @Test func `waiting counts while the host is being probed`() {
        var story = SchedulerStory()
        let requests = (0..<2).map { _ in story.submit(waitTimeout: .seconds(1)) }
        story.pass(.milliseconds(500))
        story.open()
        story.pass(.seconds(1))
        #expect(story.takeEnds().map(\.id) == [requests[1]])
    }

    @Test func `a request that does not wait for a path outlasts the probe of its host`() {
        var story = SchedulerStory()
        let probe = story.submit()
        story.open()
        #expect(story.started() == [probe])
        let request = story.submit(waitTimeout: .zero, countsProbing: false)
        story.pass(.seconds(1))
        #expect(story.takeEnds() == [])
        story.serve(probe)
        story.pass(.seconds(1))
        #expect(story.started() == [request])
        story.close()
        let late = story.submit(waitTimeout: .zero, countsProbing: false)
        #expect(story.takeEnds().map(\.id) == [late])
    }

    @Test func `waiting for a turn does not count after a successful probe`() {
        var story = SchedulerStory()
        for _ in 0..<20 { _ = story.submit(waitTimeout: .seconds(1)) }
        story.pass(.milliseconds(900))
        story.open()
        let probe = story.started()
        story.serve(probe[0])
        story.pass(.seconds(9))
        #expect(story.takeEnds() == [])
        story.close()
        story.pass(.milliseconds(250))
        #expect(story.takeEnds().count == 11)
    }

    @Test func `a wait timeout of zero still waits for a turn`() {
        var story = SchedulerStory(isOpen: true)
        let first = story.submit(waitTimeout: .zero)
        story.fail(first, .status(429), .answered, retryAfter: .seconds(10))
        let second = story.submit(waitTimeout: .zero)
        story.pass(.seconds(9))
        #expect(story.takeEnds() == [])
        story.pass(.seconds(3))
        #expect(Set(story.started()) == [first, second])
        story.close()
        let third = story.submit(waitTimeout: .zero)
        #expect(story.takeEnds() == [.init(id: third, failure: .noPath(waited: .zero), at: .seconds(12))])
    }

    @Test func `waiting requests cause few timer events`() {
        var story = SchedulerStory(isOpen: true)
        story.fail(story.submit(), .status(429), .answered, retryAfter: .seconds(1000))
        _ = story.submit(waitTimeout: .zero)
        let before = story.questions
        story.pass(.seconds(100))
        #expect(story.questions - before <= 1010)
    }

    @Test func `a gate added while its host is probed counts waiting from the start`() {
        var story = SchedulerStory()
        _ = story.submit()
        story.open()
        let gate = story.scheduler.addGate(of: story.host, isOpen: true, at: story.moment)
        let request = story.submit(gate: gate, waitTimeout: .seconds(1))
        story.pass(.seconds(1))
        #expect(story.takeEnds().map(\.id) == [request])
    }

    // MARK: Deadlines

    @Test func `a waiting request fails at its deadline`() {
        var story = SchedulerStory()
        let request = story.submit(deadline: .seconds(7), waitTimeout: .seconds(8))
        story.pass(.seconds(60))
        #expect(story.takeEnds() == [.init(id: request, failure: .deadline, at: .seconds(7))])
    }

    @Test func `a running or delayed request fails at its deadline`() {
        var story = SchedulerStory(isOpen: true)
        let running = story.submit(deadline: .seconds(7))
        let delayed = story.submit(deadline: .seconds(7))
        let failure = AttemptFailure(.transient, .neverSent)
        story.end(delayed, failure, .retry(in: .seconds(30), because: .neverSent))
        story.pass(.seconds(60))
        #expect(Set(story.takeEnds().map(\.id)) == [running, delayed])
        #expect(story.scheduler.leases == 0)
    }

    @Test func `a request whose deadline has passed is not started`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit(deadline: .zero)
        #expect(story.started() == [])
        #expect(story.takeEnds() == [.init(id: request, failure: .deadline, at: .zero)])
    }

    @Test func `a retry at or after the deadline is rejected`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit(deadline: .seconds(5))
        let failure = AttemptFailure(.transient, .neverSent)
        let late = RetryDecision.retry(in: .seconds(5), because: .neverSent)
        let scheduler = story.scheduler
        #expect(scheduler.checked(late, on: request, failure, at: story.moment) == .giveUp(because: .deadline))
        let soon = RetryDecision.retry(in: .milliseconds(4999), because: .neverSent)
        #expect(scheduler.checked(soon, on: request, failure, at: story.moment) == soon)
    }
}
