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

    @Test func `at an open gate it goes at once`() {
        var story = SchedulerStory(isOpen: true)
        let requests = (0..<3).map { _ in story.submit() }
        #expect(story.started() == requests)
    }

    @Test func `what can be repeated goes first and alone, though something else came earlier`() {
        var story = SchedulerStory()
        let post = story.submit(.post)
        let get = story.submit(.get)
        story.open()
        #expect(story.started() == [get])
        story.serve(get)
        #expect(story.started() == [post])
    }

    @Test func `if nothing can be repeated, the first goes`() {
        var story = SchedulerStory()
        let posts = (0..<3).map { _ in story.submit(.post) }
        story.open()
        #expect(story.started() == [posts[0]])
    }

    @Test func `each answer lets two more go`() {
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
        #expect(widths == [1, 2, 4, 8, 16])
        #expect(requests.count == 100)
    }

    @Test func `what leaves after the probe does not leave at one moment`() {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        for _ in 0..<6 {
            story.pass(.seconds(1))
            _ = story.started().map { story.serve($0) }
        }
        story.pass(.milliseconds(250))
        let moments = Set(story.takeStarts().map(\.at))
        #expect(moments.count > 16)
    }

    @Test func `once nobody waits, requests go at their own pace again`() {
        var story = SchedulerStory()
        let first = story.submit()
        story.open()
        story.serve(first)
        _ = story.started()
        let others = (0..<50).map { _ in story.submit() }
        #expect(story.started() == others)
    }

    @Test func `an outage of one host holds back no other`() {
        var story = SchedulerStory()
        _ = story.submit()
        let other = story.scheduler.addHost()
        let gate = story.scheduler.addGate(of: other, isOpen: true, at: story.moment)
        let request = story.submit(gate: gate)
        #expect(story.started() == [request])
    }

    @Test func `of two gates of one host, only what stands at the open one goes`() {
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

    @Test func `a request whose random moment comes when the gate is closed again waits on`() throws {
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

    @Test func `whose random moment comes after another outage waits for a new proof`() throws {
        var story = SchedulerStory()
        for _ in 0..<100 { _ = story.submit() }
        story.open()
        story.pass(.seconds(1))
        story.serve(try #require(story.started().first))
        #expect(story.scheduler.leases == 2)
        let early = story.started().count
        story.close()
        story.open()
        #expect(story.started().count == 1)
        story.pass(.seconds(1))
        #expect(story.started().count == 0)
        #expect(early == 0)
    }

    @Test func `what was under way when the path went takes no place of those that go now`() {
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

    @Test func `what comes back from its delay after an outage finds the window`() {
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
