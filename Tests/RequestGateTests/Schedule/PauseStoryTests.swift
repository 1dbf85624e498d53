import NetworkClientCore
import RequestGate
import Testing

/// Tests of pausing in each phase.
struct PauseStoryTests {
    @Test func `a request paused at a closed gate starts only when it is resumed`() {
        var story = SchedulerStory()
        let request = story.submit()
        story.pause(request)
        story.open()
        story.pass(.seconds(10))
        #expect(story.started() == [])
        story.resume(request)
        #expect(story.started() == [request])
    }

    @Test func `a request resumed at a closed gate waits for the gate`() {
        var story = SchedulerStory()
        let request = story.submit()
        story.pause(request)
        story.resume(request)
        story.pass(.seconds(10))
        #expect(story.started() == [])
        story.open()
        #expect(story.started() == [request])
    }

    @Test func `a pause suspends the deadline and the wait timeout`() {
        var story = SchedulerStory()
        let patient = story.submit(waitTimeout: .seconds(10))
        let dated = story.submit(deadline: .seconds(10))
        story.pass(.seconds(4))
        for request in [patient, dated] { story.pause(request) }
        story.pass(.seconds(1000))
        for request in [patient, dated] { story.resume(request) }
        #expect(story.scheduler.deadline(of: dated) == SchedulerStory.moment(.seconds(1010)))
        story.pass(.milliseconds(5999))
        #expect(story.takeEnds() == [])
        story.pass(.milliseconds(1))
        #expect(
            Set(story.takeEnds()) == [
                .init(id: patient, failure: .noPath(waited: .seconds(10)), at: .seconds(1010)),
                .init(id: dated, failure: .deadline, at: .seconds(1010)),
            ]
        )
    }

    @Test func `the rest of a delay elapses after the pause`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        _ = story.started()
        story.end(request, .init(.transient, .neverSent), .retry(in: .seconds(10), because: .neverSent))
        story.pass(.seconds(4))
        story.pause(request)
        story.pass(.seconds(100))
        story.resume(request)
        story.pass(.seconds(60))
        #expect(story.takeStarts() == [.init(id: request, attempt: 2, at: .seconds(110))])
    }

    @Test func `pausing a released request releases another one`() throws {
        var story = SchedulerStory()
        for _ in 0..<3 { _ = story.submit() }
        story.open()
        story.pass(.seconds(1))
        story.serve(try #require(story.started().first))
        // Two requests were released, and start after a random delay.
        #expect(story.scheduler.leases == 2)
        let all = (1...2).map { story.id(ofSlot: $0) }
        for case let id? in all { story.pause(id) }
        story.pass(.seconds(1))
        #expect(story.started() == [])
        #expect(story.scheduler.leases == 0)
        for case let id? in all { story.resume(id) }
        story.pass(.seconds(1))
        #expect(story.started().count == 2)
    }

    @Test func `pausing a running request suspends its deadline`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit(deadline: .seconds(10))
        story.pass(.seconds(4))
        story.pause(request)
        story.pass(.seconds(100))
        #expect(story.takeEnds() == [])
        story.resume(request)
        story.pass(.milliseconds(5999))
        #expect(story.takeEnds() == [])
        story.pass(.milliseconds(1))
        #expect(story.takeEnds() == [.init(id: request, failure: .deadline, at: .seconds(110))])
    }

    @Test func `a request that fails while paused continues when resumed, with its full time`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit(deadline: .seconds(20))
        _ = story.started()
        story.pause(request)
        story.pass(.seconds(50))
        story.end(request, .init(.transient, .neverSent), .retry(in: .seconds(3), because: .neverSent))
        story.pass(.seconds(50))
        #expect(story.started() == [])
        story.resume(request)
        #expect(story.scheduler.deadline(of: request) == SchedulerStory.moment(.seconds(120)))
        story.pass(.seconds(10))
        #expect(story.takeStarts() == [.init(id: request, attempt: 2, at: .seconds(103))])
    }

    @Test func `a request that was paused and resumed while running is retried normally`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        story.pause(request)
        story.resume(request)
        story.end(request, .init(.transient, .neverSent), .retry(in: .zero, because: .neverSent))
        #expect(story.started() == [request, request])
    }

    @Test func `a paused request without a connection is withdrawn, and starts when resumed`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit(deadline: .seconds(10))
        _ = story.started()
        story.pause(request, hasConnection: false)
        #expect(story.scheduler.leases == 0)
        #expect(story.scheduler.attempts(of: request) == 0)
        story.pass(.seconds(100))
        story.respond(request)
        #expect(story.started() == [])
        story.resume(request)
        #expect(story.takeStarts() == [.init(id: request, attempt: 2, at: .seconds(100))])
        #expect(story.scheduler.deadline(of: request) == SchedulerStory.moment(.seconds(110)))
    }

    @Test func `repeated pausing and resuming changes nothing`() {
        var story = SchedulerStory()
        let request = story.submit(deadline: .seconds(10))
        story.resume(request)
        story.pause(request)
        story.pass(.seconds(5))
        story.pause(request)
        story.resume(request)
        story.resume(request)
        story.pass(.seconds(60))
        #expect(story.takeEnds() == [.init(id: request, failure: .deadline, at: .seconds(15))])
    }

    // MARK: Cancelling

    @Test func `a cancelled request is removed in any phase`() {
        var story = SchedulerStory(isOpen: true)
        let running = story.submit()
        let delayed = story.submit()
        story.end(delayed, .init(.transient, .neverSent), .retry(in: .seconds(5), because: .neverSent))
        let held = story.submit()
        story.pause(held)
        story.close()
        let waiting = story.submit()
        _ = story.started()
        for request in [running, delayed, held, waiting] {
            story.cancel(request)
            #expect(!story.scheduler.isCurrent(request))
        }
        story.open()
        story.pass(.seconds(60))
        #expect(story.started() == [])
        #expect(story.takeEnds() == [])
        #expect(story.scheduler.leases == 0)
        #expect(story.scheduler.count == 0)
        #expect(story.next == nil)
    }

    @Test func `any of a hundred thousand queued requests can be removed`() {
        var story = SchedulerStory()
        let requests = (0..<100_000).map { _ in
            story.scheduler.submit(story.order(.get, deadline: .seconds(60)), at: story.moment)
        }
        for (number, request) in requests.enumerated() where number % 2 == 1 {
            story.scheduler.cancel(request, at: story.moment)
        }
        #expect(story.scheduler.count == 50_000)
        story.open()
        #expect(story.started() == [requests[0]])
    }
}
