import NetworkClientCore
import RequestGate
import Testing

/// Tests of the consequences of failed attempts.
struct FailureStoryTests {
    private let retry = RetryDecision.retry(in: .zero, because: .neverSent)
    private let failure = AttemptFailure(.transient, .neverSent)

    @Test func `a failed request is retried after its delay as often as its policy allows`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        let policy = RetryPolicy(maximumAttempts: 3, baseDelay: .seconds(1))
        story.fail(request, attempt: 1, policy: policy)
        story.pass(.seconds(1))
        story.fail(request, attempt: 2, policy: policy)
        story.pass(.seconds(2))
        #expect(story.takeStarts().map(\.attempt) == [1, 2, 3])
        #expect(story.fail(request, attempt: 3, policy: policy) == .giveUp(because: .attempts))
        #expect(!story.scheduler.isCurrent(request))
    }

    @Test func `waiting for a path does not count as an attempt`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        for attempt in 1...20 as ClosedRange<UInt32> {
            story.close()
            story.fail(request, attempt: attempt, .pathLost, policy: .init(maximumAttempts: 2))
            story.open()
        }
        #expect(story.started().count == 21)
        #expect(story.scheduler.attempts(of: request) == 1)
    }

    @Test func `an event of another attempt changes nothing`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        story.end(request, failure, retry)
        _ = story.started()
        for attempt in [0, 1, 3] as [UInt32] {
            story.respond(request, attempt: attempt)
            #expect(story.end(request, attempt: attempt, failure, retry) == false)
            #expect(story.scheduler.leases == 1)
        }
        #expect(story.started() == [])
        #expect(story.end(request, attempt: 2, failure, retry) == true)
        #expect(story.takeStarts().map(\.attempt) == [3])
    }

    @Test func `an event of an ended request changes nothing, even if its slot is reused`() {
        var story = SchedulerStory(isOpen: true)
        let old = story.submit()
        story.serve(old)
        let new = story.submit()
        #expect(new.slot == old.slot)
        #expect(new != old)
        story.finish(old)
        story.cancel(old)
        story.pause(old)
        #expect(story.end(old, failure, retry) == false)
        #expect(story.scheduler.isCurrent(new))
        #expect(story.scheduler.leases == 1)
    }

    @Test func `Retry-After holds all requests to a host`() {
        var story = SchedulerStory(isOpen: true)
        let told = story.submit()
        story.fail(told, .status(429), .answered, retryAfter: .seconds(30))
        let other = story.submit(.post)
        _ = story.started()
        story.pass(.milliseconds(29_999))
        #expect(story.started() == [])
        story.pass(.seconds(2))
        #expect(Set(story.started()) == [told, other])
    }

    @Test func `Retry-After applies from the response head`() {
        var story = SchedulerStory(isOpen: true)
        let told = story.submit()
        story.scheduler.receivedHead(told, attempt: 1, isOverload: true, retryAfter: .seconds(30), at: story.moment)
        _ = story.started()
        _ = story.submit()
        story.pass(.milliseconds(29_999))
        #expect(story.started() == [])
    }

    @Test func `Retry-After holds requests that were already released`() throws {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        story.pass(.seconds(1))
        let probe = try #require(story.started().first)
        story.respond(probe)
        #expect(story.scheduler.leases == 8)
        story.end(probe, .init(.status(429), .answered, retryAfter: .seconds(30)), .giveUp(because: .status))
        let moments = story.takeStarts().map(\.at)
        #expect(moments == [])
        story.pass(.seconds(29))
        #expect(story.started() == [])
        story.pass(.seconds(2))
        #expect(story.started().count == 8)
    }

    @Test func `an outage does not shorten Retry-After`() {
        var story = SchedulerStory(isOpen: true)
        story.fail(story.submit(), .status(503), .answered, retryAfter: .seconds(30))
        _ = story.submit()
        _ = story.started()
        story.close()
        story.pass(.seconds(5))
        story.open()
        story.pass(.milliseconds(24_999))
        #expect(story.started() == [])
        story.pass(.seconds(1))
        #expect(story.started().count == 1)
    }

    @Test func `an endless Retry-After holds requests without a deadline, and needs no timer`() {
        var story = SchedulerStory(isOpen: true)
        let told = story.submit()
        story.fail(told, .status(429), .answered, retryAfter: .seconds(Int64.max))
        let other = story.submit()
        let dated = story.submit(deadline: .seconds(5))
        _ = story.started()
        #expect(story.next == .seconds(5))
        story.pass(.seconds(1_000_000))
        #expect(story.started() == [])
        #expect(story.takeEnds().map(\.id) == [dated])
        #expect(story.next == nil)
        for request in [told, other] { story.cancel(request) }
        #expect(story.scheduler.count == 0)
    }

    @Test func `a request whose deadline is before the end of Retry-After is not retried`() {
        var story = SchedulerStory(isOpen: true)
        let told = story.submit(deadline: .seconds(20))
        let other = story.submit(deadline: .seconds(20))
        let decision = story.fail(told, .status(429), .answered, retryAfter: .seconds(30))
        #expect(decision == .giveUp(because: .deadline))
        #expect(story.fail(other) == .giveUp(because: .deadline))
        #expect(story.scheduler.count == 0)
    }

    @Test func `a host allows a hundred retries`() {
        var story = SchedulerStory(isOpen: true)
        let policy = RetryPolicy(maximumAttempts: 1000, baseDelay: .zero)
        let request = story.submit()
        var retries: UInt32 = 0
        while case .retry = story.fail(request, attempt: retries + 1, policy: policy) { retries += 1 }
        #expect(retries == 100)
        let other = story.submit()
        #expect(story.fail(other, policy: policy) == .giveUp(because: .budget))
    }

    @Test func `the cost of a successful retry is returned`() {
        var story = SchedulerStory(isOpen: true)
        let policy = RetryPolicy(maximumAttempts: 1000, baseDelay: .zero)
        let request = story.submit()
        for attempt in 1...50 as ClosedRange<UInt32> { story.fail(request, attempt: attempt, .timeout, policy: policy) }
        story.serve(request, attempt: 51)
        let other = story.submit()
        var retries: UInt32 = 0
        while case .retry = story.fail(other, attempt: retries + 1, policy: policy) { retries += 1 }
        #expect(retries == 2)
    }

    @Test func `a retry without a cost returns nothing`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        for attempt in 1...200 as ClosedRange<UInt32> { story.end(request, attempt: attempt, failure, retry) }
        story.serve(request, attempt: 201)
        #expect(story.fail(story.submit()) == .giveUp(because: .budget))
    }

    @Test func `a request that started without the scheduler is retried by it`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.adopt()
        #expect(story.started() == [])
        story.end(request, failure, retry)
        #expect(story.takeStarts() == [.init(id: request, attempt: 2, at: .zero)])
        #expect(story.scheduler.attempts(of: request) == 2)
    }

    @Test func `a cancelled request that started without the scheduler leaves nothing`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.adopt(deadline: .seconds(5))
        story.cancel(request)
        #expect(story.scheduler.count == 0)
        #expect(story.next == nil)
    }
}
