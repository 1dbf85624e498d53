import Testing

@testable import ReachabilityCore

/// The first state of a monitor.
@Suite struct StartStoryTests {
    @Test func `the first change is the current state, and no change follows`() {
        var story = MonitorStory.withUplink()
        story.start()
        #expect(story.statuses == [.wifi])
        #expect(story.events == [.state])
        #expect(story.changes.first?.reasons == [.initial])
        #expect(story.changes.first?.previous == nil)
        #expect(story.changes.first?.sequence == 1)
        #expect(story.machine.isSettled)
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.machine.deadline == nil)
    }

    @Test func `lookups determine the first state before the routes are read`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for expected in DumpScheduler.prerequisites {
            #expect(story.heldDumps.map(\.subject) == [expected])
            #expect(story.changes.isEmpty)
            story.replyToFirstDump()
        }
        #expect(story.statuses == [.wifi])
        #expect(!story.machine.isSettled)
        #expect(!story.dumps.contains(.routes(.ipv4, table: nil)))
        story.replyToDumps()
        #expect(story.statuses == [.wifi])
        #expect(story.machine.isSettled)
        #expect(story.machine.snapshot.routes(.ipv4, .main).count == 1)
    }

    @Test func `without a route the first state is not reachable`() {
        var story = MonitorStory()
        story.start()
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons == [.noRoute, .noSource])
        #expect(story.machine.isSettled)
    }

    @Test func `after an ambiguous errno the first state waits for the rules and routes`() {
        var story = Self.undecided()
        #expect(story.changes.isEmpty)
        story.replyToDumps()
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons == [.unreachable, .noSource])
    }

    @Test func `after a lookup that leads into a VRF the first state waits for the VRF's table`() {
        var story = MonitorStory()
        var (vrf, uplink) = (Entry.link(9, "red"), Entry.link(2, "wan0"))
        (vrf.kind, vrf.vrfTable, uplink.masterIndex) = ("vrf", 100, 9)
        var inner = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        var outer = inner
        inner.table = .init(rawValue: 100)
        outer.nextHops = [.init(interface: 9)]
        story.changeSilently(.link(vrf), .link(uplink), .route(outer), .route(inner))
        story.changeSilently(.address(Entry.address("192.0.2.2", on: 2)))
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.replyToFirstDump() }
        #expect(story.changes.isEmpty)
        story.replyToDumps()
        #expect(story.statuses == [.wifi])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wan0"])
    }

    @Test func `a state that the model might change is still published after a second`() {
        var story = Self.undecided()
        story.wait(.milliseconds(999))
        #expect(story.changes.isEmpty)
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.notReachable])
    }

    @Test func `replies that were queued while the process was stopped are read before the first state`() {
        var story = Self.undecided()
        story.freezeWithQueuedReplies(.seconds(3))
        #expect(story.changes.isEmpty)
        story.replyToDumps()
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons == [.unreachable, .noSource])
    }

    @Test func `queued replies postpone the first state by a second, and once`() {
        var story = Self.undecided()
        story.freezeWithQueuedReplies(.seconds(3))
        story.wait(.milliseconds(999))
        #expect(story.changes.isEmpty)
        story.freezeWithQueuedReplies(.milliseconds(1))
        #expect(story.statuses == [.notReachable])
    }

    /// A machine that has read what lookups need, which give an errno that its rules and routes might explain.
    private static func undecided() -> MonitorStory {
        var story = MonitorStory()
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 5
        rule.action = .unreachable
        story.changeSilently(.rule(rule))
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.replyToFirstDump() }
        return story
    }

    @Test func `entries that are read for the first time are no reasons of a change`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.replyToFirstDump() }
        story.late = .routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2))
        story.replyToDumps()
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.routeRemoved])
    }

    @Test func `events while tables are read are evaluated immediately`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.replyToFirstDump() }
        #expect(story.statuses == [.wifi])
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.carrierLost])
        story.replyToDumps()
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.machine.isSettled)
    }

    @Test func `an event during a dump takes precedence over the dump`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        while story.heldDumps.first?.subject != .routes(.ipv4, table: nil) { story.replyToFirstDump() }
        // The kernel writes the reply now; the route is removed before the reply is read.
        let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        let sequence = story.heldDumps[0].sequence
        story.machine.receiveReply(.route(route), .reply(sequence), at: story.now)
        story.notify(.routeRemoved(route))
        #expect(story.statuses == [.wifi, .notReachable])
        story.replyToDumps()
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.machine.snapshot.routes(.ipv4, .main).isEmpty)
    }
}

extension MonitorStory {
    /// A machine with one veth, an address and a default route.
    static func withUplink(settle: Duration = .zero, settleGoingDown: Duration? = nil) -> Self {
        var story = Self(settle: settle, settleGoingDown: settleGoingDown)
        story.changeSilently(
            .link(Entry.link(2, "wan0")),
            .address(Entry.address("192.0.2.2", on: 2)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 2))
        )
        return story
    }
}
