import Testing

@testable import ReachabilityCore

/// How a monitor comes to its first verdict.
@Suite struct StartStoryTests {
    @Test func `the first change is the state, and nothing follows`() {
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

    @Test func `lookups give the first verdict before the routes are read`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for expected in DumpScheduler.prerequisites {
            #expect(story.heldDumps.map(\.subject) == [expected])
            #expect(story.changes.isEmpty)
            story.answerFirstDump()
        }
        #expect(story.statuses == [.wifi])
        #expect(!story.machine.isSettled)
        #expect(!story.dumps.contains(.routes(.ipv4, table: nil)))
        story.answerDumps()
        #expect(story.statuses == [.wifi])
        #expect(story.machine.isSettled)
        #expect(story.machine.snapshot.routes(.ipv4, .main).count == 1)
    }

    @Test func `without a route the verdict is that there is none`() {
        var story = MonitorStory()
        story.start()
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons == [.noRoute, .noSource])
        #expect(story.machine.isSettled)
    }

    @Test func `an errno that does not tell the reason waits for the rules and routes`() {
        var story = MonitorStory()
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 5
        rule.action = .unreachable
        story.changeSilently(.rule(rule))
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.answerFirstDump() }
        #expect(story.changes.isEmpty)
        story.answerDumps()
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons == [.unreachable, .noSource])
    }

    @Test func `a lookup that leads into a VRF waits for the table that leads out`() {
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
        for _ in DumpScheduler.prerequisites { story.answerFirstDump() }
        #expect(story.changes.isEmpty)
        story.answerDumps()
        #expect(story.statuses == [.wifi])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wan0"])
    }

    @Test func `a verdict that the model might alter is published after a second all the same`() {
        var story = MonitorStory()
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 5
        rule.action = .unreachable
        story.changeSilently(.rule(rule))
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.answerFirstDump() }
        story.wait(.milliseconds(999))
        #expect(story.changes.isEmpty)
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.notReachable])
    }

    @Test func `what is read for the first time is not why something changed`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.answerFirstDump() }
        story.late = .routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2))
        story.answerDumps()
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.routeRemoved])
    }

    @Test func `what happens while tables are read is seen at once`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        for _ in DumpScheduler.prerequisites { story.answerFirstDump() }
        #expect(story.statuses == [.wifi])
        story.tell(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.carrierLost])
        story.answerDumps()
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.machine.isSettled)
    }

    @Test func `an event that comes during a dump wins over it`() {
        var story = MonitorStory.withUplink()
        story.holdsDumps = true
        story.start()
        while story.heldDumps.first?.subject != .routes(.ipv4, table: nil) { story.answerFirstDump() }
        // The kernel writes the answer now; the route goes before the answer is read.
        let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        let sequence = story.heldDumps[0].sequence
        story.machine.receiveReply(.route(route), .reply(sequence), at: story.now)
        story.tell(.routeRemoved(route))
        #expect(story.statuses == [.wifi, .notReachable])
        story.answerDumps()
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
