import Testing

@testable import ReachabilityCore

/// Recovery from lost messages, interrupted dumps, failed sockets and suspension.
@Suite struct ResyncStoryTests {
    @Test func `after an overrun everything is read, and only the net difference is published`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        story.changeSilently(
            .link(Entry.link(3, "lan0")),
            .link(Entry.link(2, "wan0", carrier: false))
        )
        story.overrun()
        #expect(story.events == [.state, .resync, .change])
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        #expect(story.changes[1].reasons == [.overrun])
        #expect(story.changes[2].reasons.first == .overrun)
        #expect(Set(story.dumps) == Set(DumpScheduler.everything))
        #expect(story.machine.isSettled)
        #expect(story.machine.counters.overruns == 1)
        #expect(story.machine.counters.resyncs == 1)
    }

    @Test func `after an overrun without a difference only the resynchronization is published`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.overrun()
        #expect(story.events == [.state, .resync])
        #expect(story.machine.isSettled)
    }

    @Test func `the evaluation after an overrun does not wait for the routes`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.overrun()
        for _ in DumpScheduler.prerequisites { story.replyToFirstDump() }
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        story.replyToDumps()
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        #expect(story.machine.isSettled)
    }

    @Test func `repeated overruns do not read large tables without a pause`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.overrun()
        story.replyToDumps(before: .routes(.ipv4, table: nil))
        // The dump takes 100 ms, and messages are lost again before it ends.
        story.receiveReplies(100)
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.overrun()
        story.forgetActions()
        story.replyToDumps()
        // The prerequisites of an evaluation are small and read immediately.
        #expect(story.dumps == DumpScheduler.prerequisites)
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        story.wait(.milliseconds(399))
        #expect(story.dumps == DumpScheduler.prerequisites)
        story.wait(.milliseconds(1))
        #expect(story.dumps == DumpScheduler.everything)
        #expect(story.events == [.state, .resync, .change])
        #expect(story.machine.counters.overruns == 2)
        #expect(story.machine.isSettled)
    }

    @Test func `the duration of a discarded dump counts for the pause after it`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.overrun()
        story.replyToDumps(before: .routes(.ipv4, table: nil))
        story.overrun()
        story.receiveReplies(50)
        story.forgetActions()
        story.replyToDumps()
        #expect(story.dumps == DumpScheduler.prerequisites)
        story.wait(.milliseconds(199))
        #expect(story.dumps == DumpScheduler.prerequisites)
        story.wait(.milliseconds(1))
        #expect(story.dumps == DumpScheduler.everything)
    }

    @Test func `many interfaces and addresses are also not read without a pause`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.overrun()
        story.receiveReplies(20)
        story.overrun()
        story.forgetActions()
        story.replyToDumps()
        #expect(story.dumps.isEmpty)
        story.wait(.milliseconds(79))
        #expect(story.dumps.isEmpty)
        story.wait(.milliseconds(1))
        #expect(story.dumps == DumpScheduler.everything)
    }

    @Test(arguments: DumpScheduler.everything) func `a stopped process does not pause for the time that it was stopped`(
        _ table: DumpSubject
    ) {
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.overrun()
        story.replyToDumps(before: table)
        story.receiveReplies(1, every: .zero)
        // The process is stopped for 3 s during a dump; it learns of the loss some time after it continues.
        story.wait(.seconds(3))
        story.receiveReplies(1, every: .zero)
        story.wait(.milliseconds(4))
        story.overrun()
        story.forgetActions()
        story.replyToDumps()
        #expect(story.dumps.starts(with: DumpScheduler.prerequisites))
        story.wait(.milliseconds(4))
        #expect(story.dumps == DumpScheduler.everything)
        let isSettled = story.machine.isSettled
        #expect(isSettled)
    }

    @Test func `a long dump of addresses is repeated until two dumps agree`() {
        var story = MonitorStory.withUplink()
        story.changeSilently(.address(Entry.address("192.0.2.3", on: 2)))
        story.division = .betweenEntries
        story.start()
        #expect(story.dumps.count { $0 == .addresses(.ipv4) } == 2)
        #expect(story.dumps.count { $0 == .addresses(.ipv6) } == 1)
        #expect(story.machine.isSettled)
    }

    @Test func `a dump whose end is a separate datagram is not long`() {
        var story = MonitorStory.withUplink()
        story.division = .beforeEnd
        story.start()
        #expect(story.dumps == DumpScheduler.everything)
        #expect(story.machine.isSettled)
    }

    @Test func `an interrupted dump is repeated immediately, then committed, and repeated later`() {
        var story = MonitorStory.withUplink()
        story.interruptions[.links] = 5
        story.start()
        #expect(story.statuses == [.wifi])
        #expect(story.dumps.count { $0 == .links } == 4)
        #expect(story.machine.isSettled)
        story.forgetActions()
        story.wait(.milliseconds(10))
        #expect(story.dumps == [.links, .links])
        #expect(story.machine.counters.interruptedDumps == 5)
        story.wait(.seconds(60))
        #expect(story.dumps == [.links, .links])
        #expect(story.machine.deadline == nil)
    }

    @Test func `a table whose dump keeps failing stays as it was until it is read again`() {
        let table = DumpSubject.routes(.ipv4, table: nil)
        var story = MonitorStory.withUplink()
        story.start()
        story.holdsDumps = true
        story.overrun()
        story.replyToDumps(before: table)
        // The links are queued too: their end commits all that has been read.
        story.machine.overrunWireless(at: story.now)
        story.failures[table] = 4
        for _ in 0..<4 { story.replyToFirstDump() }
        #expect(story.heldDumps.isEmpty)
        story.wait(.milliseconds(10))
        story.replyToDumps(before: table)
        #expect(story.heldDumps.map(\.subject) == [table])
        #expect(story.machine.snapshot.routes(.ipv4, .main).count == 1)
        story.replyToDumps()
        #expect(story.machine.isSettled)
        #expect(story.machine.snapshot.routes(.ipv4, .main).count == 1)
        #expect(story.statuses == [.wifi, .wifi])
    }

    @Test func `a failed socket is opened again, and missed changes are found`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.fail()
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        #expect(story.events == [.state, .resync, .change])
        #expect(story.changes[1].reasons == [.socketReopened])
        #expect(story.machine.counters.reopened == 1)
        #expect(story.machine.isSettled)
    }

    @Test func `if sockets keep failing the state is unknown, and the retries back off`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.opens = false
        story.forgetActions()
        story.fail()
        story.wait(.milliseconds(999))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi, .unknown])
        #expect(story.changes.last?.event == .error)
        #expect(story.changes.last?.reasons == [.netlinkFailed])
        story.wait(.seconds(9))
        let attempts = story.actions.count { $0 == .reopen }
        #expect(attempts == 9)
        story.wait(.seconds(60))
        #expect(story.actions.count { $0 == .reopen } <= attempts + 13)
        story.opens = true
        story.wait(.seconds(6))
        #expect(story.statuses.last == .wifi)
        #expect(story.changes.last?.previous == .unknown)
        #expect(story.changes.last?.event == .change)
        #expect(story.machine.isSettled)
    }

    /// A dump was requested after lost messages, and has no reply.
    private static func storyWithHeldDump() -> MonitorStory {
        var story = MonitorStory.withUplink()
        story.start()
        story.wait(.seconds(10))
        story.holdsDumps = true
        story.overrun()
        story.forgetActions()
        return story
    }

    @Test func `a dump without a reply is a failed socket`() {
        var story = Self.storyWithHeldDump()
        story.wait(.seconds(5))
        #expect(!story.actions.contains(.reopen))
        story.wait(.milliseconds(100))
        #expect(story.actions.contains(.reopen))
    }

    @Test func `replies that came while the thread did not run are read`() {
        var story = Self.storyWithHeldDump()
        story.freeze(.seconds(30))
        story.replyToDumps()
        story.wait(.seconds(10))
        #expect(!story.actions.contains(.reopen))
        #expect(story.machine.isSettled && story.machine.counters.reopened == 0)
    }

    @Test func `a resumption is published, and the kernel's lookups are made`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.wait(.seconds(1))
        story.forgetActions()
        story.machine.measureSuspension(.milliseconds(50), at: story.now)
        story.run()
        #expect(story.events == [.state])
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.machine.measureSuspension(.seconds(3_600), at: story.now)
        story.run()
        story.wait(.seconds(1))
        #expect(story.events == [.state, .suspend, .change])
        #expect(story.changes.map(\.suspended) == [nil, .milliseconds(3_599_950), nil])
        #expect(story.statuses == [.wifi, .wifi, .notReachable])
        #expect(story.changes[1].reasons == [.resumed])
        #expect(story.machine.counters.suspends == 1)
    }

    @Test func `neighbours are watched only while there is a choice of gateways`() {
        var story = MonitorStory.withIPv6Uplink(lifetime: nil)
        story.changeSilently(.link(Entry.link(3, "lan0")), .address(Entry.address("2001:db8:1::2", on: 3)))
        story.start()
        #expect(!story.actions.contains(.watchNeighbours(true)))
        story.forgetActions()
        let second = Entry.defaultRoute(via: "fe80::2", on: 3, metric: 2_048)
        story.notify(.route(second))
        #expect(story.actions.contains(.watchNeighbours(true)))
        #expect(story.dumps.contains(.neighbours(.ipv6, interface: 2)))
        #expect(story.dumps.contains(.neighbours(.ipv6, interface: 3)))
        story.forgetActions()
        story.notify(.routeRemoved(second))
        #expect(story.actions.contains(.watchNeighbours(false)))
    }

    @Test(arguments: Rival.allCases)
    func `a route to which IPv6 can turn from a silent gateway is a choice`(rival: Rival) {
        var story = MonitorStory.withIPv6Uplink(lifetime: nil)
        story.changeSilently(.link(Entry.link(3, "lan0")), .address(Entry.address("2001:db8:1::2", on: 3)))
        story.start()
        story.forgetActions()
        story.notify(.route(rival.route))
        #expect(story.actions.contains(.watchNeighbours(true)))
        #expect(story.dumps.contains(.neighbours(.ipv6, interface: rival == .moreSpecific ? 3 : 2)))
    }

    @Test func `IPv4 turns from a silent gateway to another gateway only`() {
        var story = MonitorStory.withUplink()
        story.changeSilently(.link(Entry.link(3, "lan0")), .address(Entry.address("198.51.100.2", on: 3)))
        story.start()
        var second = Entry.defaultRoute(via: "192.0.2.1", on: 3)
        second.nextHops = [.init(interface: 3)]
        story.notify(.route(second))
        #expect(!story.actions.contains(.watchNeighbours(true)))
    }

    @Test func `what was known of neighbours is forgotten once they are not watched`() {
        var story = MonitorStory.withIPv6Uplink(lifetime: nil)
        story.changeSilently(.link(Entry.link(3, "lan0")), .address(Entry.address("2001:db8:1::2", on: 3)))
        let second = Entry.defaultRoute(via: "fe80::2", on: 3, metric: 2_048)
        story.changeSilently(.route(second))
        story.start()
        story.notify(.neighbour(Entry.neighbour("fe80::1", on: 2, .failed)))
        story.notify(.routeRemoved(second))
        #expect(story.changes.map(\.path.interface?.name) == ["wan0", "lan0", "wan0"])
        // Nobody hears that the router is back.
        story.changeSilently(.neighbour(Entry.neighbour("fe80::1", on: 2, .reachable)))
        story.notify(.route(second))
        story.wait(.seconds(1))
        #expect(story.changes.map(\.path.interface?.name) == ["wan0", "lan0", "wan0"])
        #expect(story.machine.snapshot.neighbours.values.allSatisfy { $0 == .reachable })
    }
}

/// Another route beside an IPv6 default route by a gateway on interface 2.
enum Rival: CaseIterable {
    case withoutGateway
    case sameGatewayElsewhere
    case unreachable
    /// The default route is the other one then.
    case moreSpecific

    var route: RouteMessage {
        var route = Entry.defaultRoute(via: "fe80::1", on: 3, metric: 2_048)
        switch self {
        case .withoutGateway: route.nextHops = [.init(interface: 3)]
        case .sameGatewayElsewhere: break
        case .unreachable:
            route.type = .unreachable
            route.nextHops = []
        case .moreSpecific: route.destination = .init(.init(family: .ipv6, bits: 0x2000 << 112), length: 3)
        }
        return route
    }
}

extension Entry {
    fileprivate static func neighbour(
        _ text: String,
        on index: InterfaceIndex,
        _ state: NeighbourState
    ) -> NeighbourMessage {
        .init(index: index, address: IPAddress(text) ?? .init(ipv4: 0), state: state)
    }
}
