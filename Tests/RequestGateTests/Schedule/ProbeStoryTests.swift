import NetworkClientCore
import RequestGate
import Testing

/// Tests of hosts that don't recover.
struct ProbeStoryTests {
    /// Returns the times at which probes started, each of which failed immediately.
    private func moments(
        of count: Int,
        _ fail: (inout SchedulerStory, RequestScheduler.RequestID) -> Void
    ) -> [Duration] {
        var story = SchedulerStory()
        for _ in 0..<count { _ = story.submit() }
        story.open()
        var moments: [Duration] = []
        while let start = story.takeStarts().first {
            moments.append(start.at)
            fail(&story, start.id)
            if let next = story.next { story.pass(next - story.now) }
        }
        return moments
    }

    private func expectLongerRests(_ moments: [Duration]) {
        #expect(moments.count == 12)
        let rests = zip(moments, moments.dropFirst()).map { $1 - $0 }
        for (number, rest) in rests.enumerated() {
            let half = Duration.milliseconds(50) * (1 << min(number, 6))
            #expect(rest >= half && rest <= half * 2, "rest \(number) took \(rest)")
        }
    }

    @Test(arguments: [AttemptFailure.Kind.transient, .timeout, .refused])
    func `each failed probe delays the next one by a longer random time`(_ kind: AttemptFailure.Kind) {
        expectLongerRests(moments(of: 12) { $0.fail($1, kind, policy: .never) })
    }

    @Test func `a probe that gets an overload response delays the next one`() {
        let moments = moments(of: 12) { story, id in
            story.respond(id, isOverload: true)
            story.fail(id, .status(503), .answered, policy: .never)
        }
        expectLongerRests(moments)
    }

    @Test func `a gate that opens again ends the delay of probes`() {
        var story = SchedulerStory()
        for _ in 0..<10 { _ = story.submit() }
        story.open()
        story.fail(story.started()[0], policy: .never)
        #expect(story.started() == [])
        story.close()
        story.open()
        #expect(story.started().count == 1)
    }

    @Test func `a permanent failure of the probe releases the next immediately`() {
        var story = SchedulerStory()
        let requests = (0..<3).map { _ in story.submit() }
        story.open()
        story.fail(requests[0], .permanent)
        #expect(story.started() == [requests[0], requests[1]])
    }

    @Test func `a cancelled probe releases the next immediately`() {
        var story = SchedulerStory()
        let requests = (0..<3).map { _ in story.submit() }
        story.open()
        story.cancel(requests[0])
        #expect(story.started() == [requests[0], requests[1]])
    }

    @Test func `a probe without a response delays others by only two seconds`() {
        var story = SchedulerStory()
        let requests = (0..<10).map { _ in story.submit() }
        story.open()
        story.pass(.milliseconds(1999))
        #expect(story.started() == [requests[0]])
        story.pass(.milliseconds(1))
        #expect(story.started() == [requests[1]])
        story.respond(requests[0])
        #expect(story.started() == Array(requests[2...8]))
        #expect(story.scheduler.leases == 8)
    }

    @Test func `a paused probe delays no other request`() {
        var story = SchedulerStory()
        let requests = (0..<2).map { _ in story.submit() }
        story.open()
        story.pause(requests[0])
        #expect(story.started() == requests)
    }

    @Test func `a path lost at an open gate never causes an immediate retry`() {
        var story = SchedulerStory(isOpen: true)
        let request = story.submit()
        var attempt: UInt32 = 1
        for _ in 0..<8 {
            story.end(request, attempt: attempt, .init(.pathLost, .neverSent), .waitForPath)
            attempt += 1
            if let next = story.next { story.pass(next - story.now) }
        }
        #expect(story.started().count == 9)
        #expect(story.now > .seconds(6))
    }
}
