import Testing

@testable import ReachabilityCore

/// How changes are held back until they settle.
@Suite struct SettleStoryTests {
    private static let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)

    @Test func `a change is held back until it is quiet`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        #expect(story.statuses == [.wifi])
        story.tell(.routeRemoved(Self.route))
        story.wait(.milliseconds(99))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.routeRemoved])
    }

    @Test func `what goes back in time was never there`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        story.tell(.routeRemoved(Self.route))
        story.wait(.milliseconds(50))
        story.tell(.route(Self.route))
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi])
    }

    @Test func `churn can't hold a change back for more than five times the quiet time`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(100))
        story.start()
        var metric: UInt32 = 0
        var waited = 0
        while story.changes.count == 1, waited < 100 {
            metric += 1
            story.tell(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric - 1)))
            story.changeSilently(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric)))
            story.tell(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: metric)))
            story.wait(.milliseconds(10))
            waited += 1
        }
        #expect(waited == 50)
    }

    @Test func `going down can have a quiet time of its own`() {
        var story = MonitorStory.withUplink(settle: .milliseconds(10), settleGoingDown: .seconds(2))
        story.start()
        story.tell(.routeRemoved(Self.route))
        story.wait(.milliseconds(1_999))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        story.tell(.route(Self.route))
        story.wait(.milliseconds(10))
        #expect(story.statuses == [.wifi, .notReachable, .wifi])
    }

    @Test func `a nonsense duration is no longer than a day`() {
        var publisher = PathPublisher(settle: .seconds(Int64.max))
        _ = publisher.offer(.init(status: .wifi), at: .init(nanoseconds: 0))
        _ = publisher.offer(.init(status: .cellular), at: .init(nanoseconds: 0))
        #expect(publisher.deadline == Instant(nanoseconds: 86_400_000_000_000))
    }
}
