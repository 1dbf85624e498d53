import NetworkClientCore
import RequestGate
import Testing

/// Tests of requests that wait for a path, and of their release.
struct GateStoryTests {
    @Test func `a request waits until its gate opens`() {
        var story = SchedulerStory()
        let request = story.submit()
        story.pass(.seconds(60))
        #expect(story.started() == [])
        story.open()
        #expect(story.takeStarts() == [.init(id: request, attempt: 1, at: .seconds(60))])
    }

    @Test func `a request at an open gate starts immediately`() {
        var story = SchedulerStory(isOpen: true)
        let requests = (0..<3).map { _ in story.submit() }
        #expect(story.started() == requests)
    }

    @Test func `a repeatable request is the probe, even if another came earlier`() {
        var story = SchedulerStory()
        let post = story.submit(.post)
        let get = story.submit(.get)
        story.open()
        #expect(story.started() == [get])
        story.serve(get)
        #expect(story.started() == [post])
    }

    @Test func `the first request is the probe if none is repeatable`() {
        var story = SchedulerStory()
        let posts = (0..<3).map { _ in story.submit(.post) }
        story.open()
        #expect(story.started() == [posts[0]])
    }

    @Test func `the probe's response releases eight requests, each further one two more`() {
        var story = SchedulerStory()
        let requests = (0..<100).map { _ in story.submit() }
        story.open()
        var widths: [Int] = []
        for _ in 0..<5 {
            story.pass(.seconds(1))
            let round = story.started()
            widths.append(round.count)
            for request in round { story.serve(request) }
        }
        #expect(widths == [1, 8, 16, 32, 43])
        #expect(requests.count == 100)
    }

    @Test func `requests after the probe don't start at the same time`() {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        for _ in 0..<2 {
            story.pass(.seconds(1))
            _ = story.started().map { story.serve($0) }
        }
        story.pass(.milliseconds(250))
        let starts = story.takeStarts()
        #expect(starts.count == 16)
        #expect(Set(starts.map(\.at)).count > 12)
    }

    @Test func `once no request waits, requests are not limited`() {
        var story = SchedulerStory()
        let first = story.submit()
        story.open()
        story.serve(first)
        _ = story.started()
        let others = (0..<50).map { _ in story.submit() }
        #expect(story.started() == others)
    }

    @Test func `an outage of one host does not delay others`() {
        var story = SchedulerStory()
        _ = story.submit()
        let other = story.scheduler.addHost()
        let gate = story.scheduler.addGate(of: other, isOpen: true, at: story.moment)
        let request = story.submit(gate: gate)
        #expect(story.started() == [request])
    }

    @Test func `only requests at the open gate of a host start`() {
        var story = SchedulerStory()
        let restricted = story.scheduler.addGate(of: story.host, isOpen: false, at: story.moment)
        let late = story.submit(gate: restricted)
        let early = story.submit()
        story.open()
        #expect(story.started() == [early])
        story.serve(early)
        #expect(story.started() == [])
        story.open(restricted)
        #expect(story.started() == [late])
    }

    @Test func `a released request waits again if its gate closed during its random delay`() throws {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        story.pass(.seconds(1))
        story.serve(try #require(story.started().first))
        story.close()
        story.pass(.seconds(10))
        let meanwhile = story.started().count
        #expect(meanwhile < 2)
        #expect(story.scheduler.leases == meanwhile)
    }

    @Test func `a released request waits for a new probe after another outage`() throws {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        story.pass(.seconds(1))
        story.serve(try #require(story.started().first))
        #expect(story.scheduler.leases == 8)
        let early = story.started().count
        story.close()
        story.open()
        #expect(story.started().count == 1)
        story.pass(.seconds(1))
        #expect(story.started().count == 0)
        #expect(early == 0)
    }

    @Test func `requests from before an outage don't count against the window`() {
        var story = SchedulerStory(isOpen: true)
        let lost = (0..<5).map { _ in story.submit() }
        #expect(story.started() == lost)
        story.close()
        let waiting = story.submit()
        story.open()
        #expect(story.started() == [waiting])
        for request in lost { story.cancel(request) }
        story.serve(waiting)
        #expect(story.scheduler.leases == 0)
    }

    @Test func `a retry after an outage is limited by the window`() {
        var story = SchedulerStory(isOpen: true)
        let requests = (0..<100).map { _ in story.submit() }
        for request in requests { story.fail(request) }
        story.close()
        story.open()
        _ = story.started()
        story.pass(.seconds(1))
        #expect(story.started().count == 1)
    }
}
