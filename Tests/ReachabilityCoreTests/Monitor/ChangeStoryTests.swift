import Testing

@testable import ReachabilityCore

/// Changes that the kernel announces, and changes that it does not.
@Suite struct ChangeStoryTests {
    @Test func `a change is published before it is confirmed`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        let confirms = story.machine.counters.confirms
        let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        story.machine.receive(story.kernel.change(.routeRemoved(route)), .notification, at: story.now)
        guard case .publish(let change) = story.machine.next(at: story.now) else {
            Issue.record("the change does not come first")
            return
        }
        #expect(change.status == .notReachable)
        #expect(change.reasons == [.routeRemoved])
        #expect(story.machine.next(at: story.now) == .lookup(inDetail: false))
        story.machine.receiveResults(story.kernel.results(at: story.now), at: story.now)
        #expect(story.machine.next(at: story.now) == nil)
        #expect(story.machine.counters.confirms == confirms + 1)
        #expect(story.machine.isSettled)
    }

    @Test func `a burst causes one evaluation, and no change if its net effect is none`() {
        var story = MonitorStory.withUplink()
        story.start()
        let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        story.notify(.routeRemoved(route), .route(route), .link(Entry.link(2, "wan0", carrier: false)))
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        story.notify(.link(Entry.link(2, "wan0")), .routeRemoved(route), .route(route))
        #expect(story.statuses == [.wifi, .notReachable, .wifi])
    }

    @Test func `the reasons are the events since the last change`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.notify(.address(Entry.address("198.51.100.7", on: 2)))
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(story.changes.last?.reasons == [.carrierLost])
        #expect(story.changes.last?.previous == .wifi)
    }

    @Test func `evaluations without a change are confirmed together, after a delay`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        for last in 1...50 { story.notify(.address(Entry.address("198.51.100.\(last)", on: 2))) }
        #expect(story.lookups == 0)
        story.wait(.milliseconds(20))
        #expect(story.lookups == 1)
        #expect(story.machine.deadline == nil)
    }

    @Test func `interfaces without a route are evaluated together, after a short delay`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        for index in 10..<60 {
            let veth = Entry.link(InterfaceIndex(index), "veth\(index)")
            story.machine.receive(story.kernel.change(.link(veth)), .notification, at: story.now)
            #expect(story.machine.next(at: story.now) == nil)
        }
        #expect(!story.machine.isSettled)
        story.wait(.milliseconds(50))
        #expect(story.statuses == [.wifi])
        // An important change is evaluated immediately, even if another waits.
        story.notify(.link(Entry.link(60, "veth60")))
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(story.statuses == [.wifi, .notReachable])
        // The waiting change is not among its reasons.
        #expect(story.changes.last?.reasons == [.carrierLost])
        story.wait(.seconds(1))
        #expect(story.lookups <= 3)
        #expect(story.machine.deadline == nil)
        #expect(story.machine.isSettled)
    }

    @Test func `the ports below a route's interface are important, including new ones`() {
        var story = MonitorStory()
        var bridge = Entry.link(2, "br0")
        bridge.kind = "bridge"
        var member = Entry.link(3, "port0")
        member.masterIndex = 2
        story.changeSilently(
            .link(bridge),
            .link(member),
            .address(Entry.address("192.0.2.2", on: 2)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 2))
        )
        story.start()
        #expect(story.changes.last?.path.carriers.map(\.name) == ["port0"])
        var second = Entry.link(4, "port1")
        second.masterIndex = 2
        story.notify(.link(second))
        #expect(story.changes.last?.path.carriers.map(\.name) == ["port0", "port1"])
    }

    @Test func `a late message is not mistaken for a silent change`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        story.late = .routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2))
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi, .notReachable, .notReachable])
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.dumps.isEmpty)
    }

    @Test(arguments: [
        KernelEvent.link(Entry.link(2, "wan0", up: false)), .addressRemoved(Entry.address("192.0.2.2", on: 2)),
    ])
    func `the monitor waits for a change that the kernel has announced`(_ announced: KernelEvent) throws {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        story.kernel.decision = try #require(story.machine.evaluation?.ipv4.outcomes.first)
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.notify(announced)
        story.wait(.milliseconds(60))
        story.kernel.decision = nil
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.machine.isSettled)
    }

    @Test func `an event during the confirmation is not a reason of the earlier change`() throws {
        var story = MonitorStory.withUplink()
        story.start()
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        story.kernel.decision = try #require(story.machine.evaluation?.ipv4.outcomes.first)
        story.notify(.link(Entry.link(2, "wan0", up: false)))
        story.notify(.addressRemoved(Entry.address("192.0.2.2", on: 2)))
        story.kernel.decision = nil
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi, .notReachable, .notReachable])
        #expect(story.changes.last?.reasons == [.linkDown, .routeFlushed])
        #expect(story.changes.last?.path.reasons == [.noRoute, .noSource])
    }

    @Test(arguments: zip(["192.0.2.2", "2001:db8::2"], ["192.0.2.1", "2001:db8::1"]))
    func `the monitor waits for the announcement of a route that the kernel uses already`(
        _ source: String,
        _ gateway: String
    ) {
        var story = MonitorStory.withAddress(source)
        let route = Entry.defaultRoute(via: gateway, on: 2)
        story.changeSilently(.route(route))
        story.notify(.address(Entry.address("198.51.100.7", on: 2)))
        story.wait(.milliseconds(60))
        story.announce(.route(route))
        story.wait(.seconds(1))
        #expect(story.statuses == [.notReachable, .wifi])
        #expect(story.changes.last?.reasons == [.routeAdded])
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.dumps.isEmpty)
        #expect(story.machine.isSettled)
    }

    @Test(arguments: zip(["192.0.2.2", "2001:db8::2"], ["192.0.2.1", "2001:db8::1"]))
    func `a route that the kernel never announces is a mismatch`(_ source: String, _ gateway: String) {
        var story = MonitorStory.withAddress(source)
        story.changeSilently(.route(Entry.defaultRoute(via: gateway, on: 2)))
        story.notify(.address(Entry.address("198.51.100.7", on: 2)))
        story.wait(.seconds(1))
        #expect(story.statuses == [.notReachable, .wifi])
        #expect(story.changes.last?.reasons == [.confirmMismatch])
        #expect(story.machine.counters.mismatches == 1)
        #expect(story.machine.isSettled)
    }

    @Test func `an announced change that the kernel never makes is a mismatch`() throws {
        var story = MonitorStory.withUplink()
        story.start()
        story.kernel.decision = try #require(story.machine.evaluation?.ipv4.outcomes.first)
        story.notify(.link(Entry.link(2, "wan0", up: false)))
        story.wait(.seconds(1))
        #expect(story.machine.counters.mismatches == 1)
        #expect(story.changes.last?.path.reasons.contains(.interfaceDown) == true)
    }

    @Test func `a silent change is detected at the next message, and corrected`() {
        var story = MonitorStory.withUplink()
        story.start()
        story.forgetActions()
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "192.0.2.1", on: 2)))
        story.notify(.address(Entry.address("198.51.100.7", on: 2)))
        #expect(story.statuses == [.wifi])
        story.wait(.milliseconds(50))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.confirmMismatch])
        #expect(story.machine.counters.mismatches == 1)
        #expect(story.dumps.contains(.routes(.ipv4, table: .main)))
        #expect(!story.dumps.contains(.routes(.ipv4, table: nil)))
        #expect(story.machine.isSettled)
        #expect(story.machine.snapshot.routes(.ipv4, .main).isEmpty)
    }

    @Test func `a kernel decision that the model cannot explain is published until both agree again`() {
        var story = MonitorStory.withUplink()
        story.start()
        let other = LookupOutcome.refused(errno: LookupErrno.accessDenied, .prohibited)
        story.kernel.decision = other
        story.notify(.address(Entry.address("198.51.100.7", on: 2)))
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.machine.isSettled)
        #expect(story.dumps.contains(.routes(.ipv4, table: nil)))
        story.forgetActions()
        story.notify(.address(Entry.address("198.51.100.8", on: 2)))
        story.wait(.seconds(1))
        #expect(story.dumps.isEmpty)
        #expect(story.lookups > 0)
        story.kernel.decision = nil
        story.notify(.address(Entry.address("198.51.100.9", on: 2)))
        #expect(story.statuses == [.wifi, .notReachable, .wifi])
        story.wait(.seconds(1))
        #expect(story.machine.counters.mismatches == 1)
    }

    @Test func `a route more specific than the model mirrors is no mismatch`() {
        var story = MonitorStory.withUplink()
        story.changeSilently(.link(Entry.link(3, "lan0")), .address(Entry.address("198.51.100.2", on: 3)))
        let gateway = IPAddress("198.51.100.1")
        let nextHop = SelectedNextHop(interface: 3, gateway: gateway, source: IPAddress("198.51.100.2"))
        story.kernel.specificRoute = .selected(.init(table: .main, nextHop: nextHop))
        story.start()
        #expect(story.changes.first?.path.interface?.name == "lan0")
        #expect(story.changes.first?.path.reasons == [.coveredBySpecificRoute])
        story.forgetActions()
        story.notify(.link(Entry.link(3, "lan0", carrier: false)))
        #expect(story.statuses == [.wifi, .notReachable])
        story.wait(.seconds(1))
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.dumps.isEmpty)
        #expect(story.lookups == 1)
    }

    @Test func `a more specific route that appears and goes is looked up`() {
        var story = MonitorStory()
        story.changeSilently(.link(Entry.link(2, "wan0")), .address(Entry.address("192.0.2.2", on: 2)))
        story.start()
        let nextHop = SelectedNextHop(interface: 2, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.2"))
        story.kernel.specificRoute = .selected(.init(table: .main, nextHop: nextHop))
        // The model does not decode what it does not mirror.
        story.announce(.ignored)
        #expect(story.statuses == [.notReachable, .wifi])
        story.kernel.specificRoute = nil
        story.announce(.ignored)
        #expect(story.statuses == [.notReachable, .wifi, .notReachable])
        #expect(story.machine.counters.mismatches == 0)
    }

    @Test func `a refusal that is not final agrees with another refusal, and with no route`() {
        let kernel = ProbeResult(.refused(errno: LookupErrno.networkUnreachable, .noRoute), isFinal: false)
        let model = LookupOutcome.refused(errno: LookupErrno.addressNotAvailable, .noSource)
        #expect(model.agrees(with: kernel))
        #expect(!model.agrees(with: kernel.outcome))
        let selection = RouteSelection(table: .main, nextHop: .init(interface: 2))
        #expect(!LookupOutcome.selected(selection).agrees(with: kernel))
    }

    @Test func `an expiry is published once the kernel confirms it`() {
        var story = MonitorStory.withIPv6Uplink(lifetime: .seconds(60))
        story.start()
        #expect(story.statuses == [.wifi])
        story.forgetActions()
        // A router's advertisement refreshed the route; the kernel does not say so.
        story.changeSilently(.route(Entry.expiringRoute(lifetime: .seconds(600))))
        story.wait(.seconds(120))
        #expect(story.statuses == [.wifi])
        #expect(story.lookups > 0)
        #expect(story.dumps == [.routes(.ipv6, table: .main)])
        #expect(story.machine.counters.mismatches == 0)
        #expect(story.machine.isSettled)
    }
}

extension MonitorStory {
    /// A machine with one veth, a global IPv6 address and a default route that an advertisement made.
    static func withIPv6Uplink(lifetime: Duration?) -> Self {
        var story = Self()
        story.changeSilently(
            .link(Entry.link(2, "wan0")),
            .address(Entry.address("2001:db8::2", on: 2)),
            .route(Entry.expiringRoute(lifetime: lifetime))
        )
        return story
    }
}

extension Entry {
    static func expiringRoute(lifetime: Duration?) -> RouteMessage {
        var route = defaultRoute(via: "fe80::1", on: 2, metric: 1_024)
        route.lifetime = lifetime
        route.origin = 9
        return route
    }
}

extension MonitorStory {
    /// A machine whose veth has an address and no route, and which has started.
    fileprivate static func withAddress(_ address: String) -> Self {
        var story = Self()
        story.changeSilently(.link(Entry.link(2, "wan0")), .address(Entry.address(address, on: 2)))
        story.start()
        story.forgetActions()
        return story
    }
}
