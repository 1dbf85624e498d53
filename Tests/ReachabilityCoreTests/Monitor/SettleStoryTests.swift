import Testing

@testable import ReachabilityCore

/// Changes are held back until they settle.
@Suite struct SettleStoryTests {
    private static let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)

    @Test func `a change is held back until the quiet time has passed`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        #expect(story.statuses == [.wifi])
        story.notify(.routeRemoved(Self.route))
        story.wait(.milliseconds(99))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.routeRemoved])
    }

    @Test func `a change that is reverted within the quiet time is not published`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        story.notify(.routeRemoved(Self.route))
        story.wait(.milliseconds(50))
        story.notify(.route(Self.route))
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi])
    }

    @Test func `continual changes hold a change back for at most five times the quiet time`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        var metric: UInt32 = 0
        var waited = 0
        while story.changes.count == 1, waited < 100 {
            metric += 1
            story.notify(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric - 1)))
            story.changeSilently(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric)))
            story.notify(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric)))
            story.wait(.milliseconds(10))
            waited += 1
        }
        #expect(waited == 50)
    }

    @Test func `changes for the worse can have a separate quiet time`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(10), settleGoingDown: .seconds(2))
        story.start()
        story.notify(.routeRemoved(Self.route))
        story.wait(.milliseconds(1_999))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        story.notify(.route(Self.route))
        story.wait(.milliseconds(10))
        #expect(story.statuses == [.wifi, .notReachable, .wifi])
    }

    @Test func `an absurd duration is limited to a day`() {
        var publisher = PathPublisher(settle: .seconds(Int64.max))
        _ = publisher.offer(.init(status: .wifi), at: .init(nanoseconds: 0))
        _ = publisher.offer(.init(status: .cellular), at: .init(nanoseconds: 0))
        #expect(publisher.deadline == Instant(nanoseconds: 86_400_000_000_000))
    }
}
