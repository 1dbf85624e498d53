import Testing

@testable import ReachabilityCore

/// Wi-Fi by nl80211's events and by its link's, which arrive on two sockets.
@Suite struct WirelessStoryTests {
    /// A station that is associated, with a default route.
    private static func station() -> MonitorStory {
        var story = MonitorStory()
        story.changeSilently(
            .link(link()),
            .address(Entry.address("192.0.2.2", on: 3)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 3))
        )
        story.start()
        var interface = WirelessMessage(.newInterface, index: 3)
        interface.mode = .station
        interface.ssid = Array("home".utf8)
        story.machine.receiveDevice(.wireless(interface), .notification, at: story.now)
        var findings = DeviceFindings(index: 3, name: "wlan0")
        findings.isWireless = true
        story.find(findings)
        return story
    }

    private static func link(carrier: Bool = true, _ state: OperationalState? = nil) -> LinkMessage {
        var link = Entry.link(3, "wlan0", carrier: carrier)
        link.kind = nil
        if let state { link.operationalState = state }
        return link
    }

    private static func event(
        _ command: WirelessMessage.Command,
        _ address: UInt8 = 1,
        status: UInt16? = nil
    ) -> KernelEvent {
        var message = WirelessMessage(command, index: 3)
        message.address = [2, 0, 0, 0, address, 0]
        message.status = status
        return .wireless(message)
    }

    @Test func `an interface that nl80211 knows is a Wi-Fi interface`() {
        let story = Self.station()
        #expect(story.statuses == [.wifi])
        #expect(story.changes[0].path.interface?.kind == .wifi)
        #expect(story.changes[0].path.interface?.kindSource == .nl80211)
    }

    @Test func `a disconnection is published immediately, and the link's later message is no change`() {
        var story = Self.station()
        story.announce(Self.event(.disconnect))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes[1].reasons == [.carrierLost])
        #expect(story.changes[1].path.reasons.first == .noCarrier)
        story.notify(.link(Self.link(carrier: false)))
        #expect(story.changes.count == 2)
    }

    @Test func `a disconnection after the link's message is no change`() {
        var story = Self.station()
        story.notify(.link(Self.link(carrier: false)))
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes[1].reasons == [.carrierLost])
        story.announce(Self.event(.disconnect))
        #expect(story.changes.count == 2)
    }

    @Test(arguments: [true, false]) func `an association is one change, in either order of messages`(linkIsFirst: Bool)
    {
        var story = Self.station()
        story.announce(Self.event(.disconnect))
        story.notify(.link(Self.link(carrier: false)))
        story.announce(Self.event(.authenticate, status: 0))
        #expect(story.changes.last?.status == .notReachable)
        #expect(story.changes.last?.path.reasons.first == .associating)
        #expect(story.changes.last?.reasons == [.linkChanged])
        story.announce(Self.event(.associate, status: 0))
        if linkIsFirst { story.notify(.link(Self.link(.dormant))) }
        story.announce(Self.event(.connect, status: 0))
        if !linkIsFirst { story.notify(.link(Self.link(.dormant))) }
        #expect(story.changes.count == 3)
        story.notify(.link(Self.link()))
        #expect(story.statuses == [.wifi, .notReachable, .notReachable, .wifi])
        #expect(story.changes[3].reasons.contains(.carrierGained))
    }

    @Test func `a loss that ends before the monitor wakes is not published, as with links`() {
        var story = Self.station()
        for event in [
            Self.event(.disconnect), Self.event(.authenticate, status: 0), Self.event(.associate, status: 0),
            Self.event(.connect, status: 0),
        ] { story.machine.receive(event, .notification, at: story.now) }
        story.run()
        #expect(story.statuses == [.wifi])
    }

    /// The link's messages are older than nl80211's of the same wake-up, which are delivered after them.
    @Test func `a link's old message does not end a new disconnection`() {
        var story = Self.station()
        for event in [KernelEvent.link(Self.link(carrier: false)), .link(Self.link()), Self.event(.disconnect)] {
            story.machine.receive(event, .notification, at: story.now)
        }
        story.run()
        #expect(story.statuses == [.wifi, .notReachable])
    }

    @Test func `with a wrong key the state stays not reachable`() {
        var story = Self.station()
        story.announce(Self.event(.disconnect))
        story.notify(.link(Self.link(carrier: false)))
        for _ in 0..<3 {
            for command in [WirelessMessage.Command.authenticate, .associate, .connect] {
                story.announce(Self.event(command, status: 0))
            }
            story.notify(.link(Self.link(.dormant)))
            story.announce(Self.event(.deauthenticate))
            story.announce(Self.event(.disconnect))
            story.notify(.link(Self.link(carrier: false, .dormant)), .link(Self.link(carrier: false)))
        }
        #expect(story.statuses.dropFirst().allSatisfy { $0 == .notReachable })
        let reasons = story.changes.dropFirst().map(\.path.reasons.first)
        #expect(reasons == [.noCarrier, .associating, .noCarrier, .associating, .noCarrier, .associating, .noCarrier])
    }

    @Test func `a roam is published on request`() {
        var story = Self.station()
        story.machine.reportsRoams = true
        story.announce(Self.event(.connect, 1, status: 0))
        story.announce(Self.event(.roam, 2))
        #expect(story.events == [.state, .roam])
        #expect(story.changes[1].reasons == [.roamed])
        #expect(story.changes[1].status == .wifi)
        #expect(story.changes[1].previous == .wifi)
        #expect(story.changes[1].path == story.changes[0].path)
        #expect(story.changes.map(\.sequence) == [1, 2])
        // With an unpublished loss in between.
        for event in [Self.event(.disconnect), Self.event(.authenticate, 1), Self.event(.connect, 1, status: 0)] {
            story.machine.receive(event, .notification, at: story.now)
        }
        story.run()
        #expect(story.events == [.state, .roam, .roam])
    }

    @Test func `no roam is published without a request, for other interfaces, or after a published loss`() {
        var story = Self.station()
        story.announce(Self.event(.roam, 2))
        #expect(story.events == [.state])
        story.machine.reportsRoams = true
        var elsewhere = WirelessMessage(.roam, index: 4)
        elsewhere.address = [2, 0, 0, 0, 9, 0]
        story.announce(.wireless(elsewhere))
        #expect(story.events == [.state])
        story.announce(Self.event(.disconnect))
        story.announce(Self.event(.connect, 3, status: 0))
        #expect(story.events == [.state, .change, .change])
    }

    @Test func `after a loss of messages the links decide`() {
        var story = Self.station()
        story.announce(Self.event(.disconnect))
        story.forgetActions()
        let overruns = story.machine.counters.overruns
        story.machine.overrunWireless(at: story.now)
        story.run()
        #expect(story.statuses == [.wifi, .notReachable, .wifi])
        #expect(story.machine.counters.overruns == overruns + 1)
        // The interfaces are queried again.
        #expect(story.dumps == [.links])
        #expect(story.actions.contains(.probe(3, name: "wlan0")))
    }

    @Test func `reopened sockets reset associations`() {
        var story = Self.station()
        story.announce(Self.event(.disconnect))
        story.fail()
        story.wait(.seconds(1))
        #expect(story.machine.counters.reopened == 1)
        #expect(story.statuses.last == .wifi)
    }

    @Test func `the interfaces of a driver that is loaded later are probed`() {
        var story = Self.station()
        story.forgetActions()
        story.machine.receiveNew(.init(name: "nlctrl", id: 16))
        story.run()
        #expect(story.dumps == [])
        story.machine.receiveNew(.init(name: GenericFamilies.wirelessName, id: 35))
        story.run()
        #expect(story.dumps == [.links])
        #expect(story.actions.contains(.probe(3, name: "wlan0")))
    }
}
