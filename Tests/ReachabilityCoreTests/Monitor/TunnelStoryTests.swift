import Testing

@testable import ReachabilityCore

/// When a monitor asks where the tunnels lead on which its verdict rests, and what it makes of the answers.
@Suite struct TunnelStoryTests {
    private static let endpoint = IPAddress(ipv4: 0xC633_6407)

    /// A default route through WireGuard (9), and beside it one through a veth (2) of a higher metric, and a modem (3).
    private func story() -> MonitorStory {
        var story = MonitorStory()
        var tunnel = Entry.link(9, "wg0")
        tunnel.kind = "wireguard"
        tunnel.hardwareType = .none
        var modem = Entry.link(3, "wwan0")
        modem.kind = "wwan"
        story.changeSilently(
            .link(Entry.link(2, "wan0")),
            .link(modem),
            .link(tunnel),
            .address(Entry.address("192.0.2.2", on: 2)),
            .address(Entry.address("10.0.0.2", on: 9)),
            .route(Entry.defaultRoute(via: "10.0.0.1", on: 9)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: 100))
        )
        return story
    }

    private static var device: WireGuardMessage {
        var device = WireGuardMessage(index: 9)
        var peer = WireGuardMessage.Peer()
        peer.endpoint = endpoint
        peer.allowed = [.all(.ipv4)]
        device.peers = [peer]
        return device
    }

    /// The kernel tells that the endpoint's packets leave by an interface.
    private func answer(_ story: inout MonitorStory, way: InterfaceIndex) {
        var end = UeventMessage(action: .add, interface: "wg0", index: 9)
        end.probe = .answered
        story.find([
            .wireGuard(Self.device), .route(.init(egress: way, to: .init(address: Self.endpoint))), .uevent(end),
        ])
    }

    /// The machine has its first state, with the endpoint's packets leaving by an interface, and all is quiet.
    private func start(_ story: inout MonitorStory, way: InterfaceIndex) {
        story.start()
        answer(&story, way: way)
        // What was read after the first question may have moved the way.
        story.wait(.seconds(1))
        answer(&story, way: way)
        story.forgetActions()
    }

    private func asks(_ story: MonitorStory) -> Int {
        story.actions.count { if case .probe(9, "wg0") = $0 { true } else { false } }
    }

    @Test func `the first state waits for the way to the endpoint`() {
        var story = story()
        story.start()
        #expect(asks(story) == 1)
        #expect(story.changes.isEmpty)
        answer(&story, way: 3)
        #expect(story.statuses == [.cellular])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wwan0"])
        #expect(story.changes.first?.path.interface?.name == "wg0")
    }

    @Test func `a session of L2TP is asked about once its device is known to be one`() {
        var story = MonitorStory()
        var modem = Entry.link(3, "wwan0")
        modem.kind = "wwan"
        var session = Entry.link(9, "l2tpeth0")
        session.kind = nil
        story.changeSilently(
            .link(Entry.link(2, "wan0")),
            .link(modem),
            .link(session),
            .address(Entry.address("192.0.2.2", on: 2)),
            .address(Entry.address("10.0.0.2", on: 9)),
            .route(Entry.defaultRoute(via: "10.0.0.1", on: 9)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: 100))
        )
        story.start()
        var device = UeventMessage(action: .add, interface: "l2tpeth0", index: 9, deviceType: "l2tpeth")
        device.probe = .answered
        #expect(story.actions.count { $0 == .probe(9, name: "l2tpeth0") } == 1)
        story.forgetActions()
        story.find([.uevent(device)])
        #expect(story.actions.count { $0 == .probe(9, name: "l2tpeth0") } == 1)
        #expect(story.changes.isEmpty)
        var answer = L2TPMessage(interface: "l2tpeth0", tunnel: 1)
        answer.remote = Self.endpoint
        var end = UeventMessage(action: .add, interface: "l2tpeth0", index: 9)
        end.probe = .answered
        story.find([.l2tp(answer), .route(.init(egress: 3, to: .init(address: Self.endpoint))), .uevent(end)])
        #expect(story.statuses == [.cellular])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wwan0"])
    }

    @Test func `nothing more is asked while nothing changes`() {
        var story = story()
        start(&story, way: 3)
        story.wait(.seconds(60))
        #expect(asks(story) == 0)
        #expect(story.statuses == [.cellular])
    }

    @Test func `a way that moves with the carrier it left is no outage`() {
        var story = story()
        start(&story, way: 2)
        story.tell(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(asks(story) == 1)
        #expect(story.statuses == [.wifi])
        answer(&story, way: 3)
        #expect(story.statuses == [.wifi, .cellular])
    }

    @Test func `a way that stays where the carrier is lost is one, and is told when the kernel said so`() {
        var story = story()
        start(&story, way: 2)
        story.tell(.link(Entry.link(2, "wan0", carrier: false)))
        answer(&story, way: 2)
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.carrierLost])
    }

    @Test func `after a change that may have moved the way it is asked for again, however many come`() {
        var story = story()
        start(&story, way: 2)
        for metric in 200..<300 {
            story.tell(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: UInt32(metric))))
        }
        story.wait(.seconds(1))
        #expect(asks(story) == 1)
        #expect(story.statuses == [.wifi])
        answer(&story, way: 3)
        #expect(asks(story) == 2, "once more for all that came meanwhile")
        answer(&story, way: 3)
        #expect(story.statuses == [.wifi, .cellular])
    }

    @Test func `without privilege it is asked once, and the best default beside the tunnel counts`() {
        var story = story()
        story.start()
        var end = UeventMessage(action: .add, interface: "wg0", index: 9)
        end.probe = .failed("its endpoint can't be asked for: Operation not permitted")
        story.find([.uevent(end)])
        #expect(story.statuses == [.wifi])
        #expect(story.changes[0].path.carriers.map(\.name) == ["wan0"])
        story.tell(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: 50)))
        story.wait(.seconds(1))
        #expect(asks(story) == 1)
    }

    @Test func `a kernel that does not answer holds the first state back for a second`() {
        var story = story()
        story.start()
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi])
    }

    @Test func `the end of an answer about a tunnel is no change of a device`() {
        var story = MonitorStory()
        var modem = Entry.link(3, "wwan0")
        modem.kind = "wwan"
        var tunnel = Entry.link(9, "gre1")
        (tunnel.kind, tunnel.hardwareType, tunnel.tunnelRemote) = ("gre", .none, Self.endpoint)
        story.changeSilently(
            .link(Entry.link(2, "wan0")),
            .link(modem),
            .link(tunnel),
            .address(Entry.address("192.0.2.2", on: 2)),
            .address(Entry.address("10.0.0.2", on: 9)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: 100))
        )
        story.start()
        story.tell(.route(Entry.defaultRoute(via: "10.0.0.1", on: 9)))
        var end = UeventMessage(action: .add, interface: "gre1", index: 9)
        end.probe = .answered
        story.find([.route(.init(egress: 3, to: .init(address: Self.endpoint))), .uevent(end)])
        #expect(story.statuses == [.wifi, .cellular])
        #expect(story.changes.last?.reasons == [.routeAdded, .tunnelChanged])
    }

    @Test func `a tunnel that carries nothing is not asked about`() {
        var story = story()
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "10.0.0.1", on: 9)))
        story.start()
        story.wait(.seconds(1))
        #expect(asks(story) == 0)
        #expect(story.statuses == [.wifi])
    }
}
