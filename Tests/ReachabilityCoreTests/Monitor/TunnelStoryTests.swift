import Testing

@testable import ReachabilityCore

/// Queries for the egress interfaces of the tunnels on which a path depends.
@Suite struct TunnelStoryTests {
    private static let endpoint = IPAddress(ipv4: 0xC633_6407)

    /// A default route through WireGuard (9), one through a veth (2) with a higher metric, and a modem (3).
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

    /// Reports the egress interface of the packets to the endpoint.
    private func setEgress(_ story: inout MonitorStory, egress: InterfaceIndex) {
        var end = UeventMessage(action: .add, interface: "wg0", index: 9)
        end.probe = .answered
        story.find([
            .wireGuard(Self.device), .route(.init(egress: egress, to: .init(address: Self.endpoint))), .uevent(end),
        ])
    }

    /// Runs the machine to its first state, with an egress interface for the endpoint, until nothing is pending.
    private func start(_ story: inout MonitorStory, egress: InterfaceIndex) {
        story.start()
        setEgress(&story, egress: egress)
        // The tables that were read after the first query may have changed the egress interface.
        story.wait(.seconds(1))
        setEgress(&story, egress: egress)
        story.forgetActions()
    }

    private func queryCount(_ story: MonitorStory) -> Int {
        story.actions.count { if case .probe(9, "wg0") = $0 { true } else { false } }
    }

    @Test func `the first state waits for the endpoint's egress interface`() {
        var story = story()
        story.start()
        #expect(queryCount(story) == 1)
        #expect(story.changes.isEmpty)
        setEgress(&story, egress: 3)
        #expect(story.statuses == [.cellular])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wwan0"])
        #expect(story.changes.first?.path.interface?.name == "wg0")
    }

    @Test func `an L2TP session is queried once its device is known to be one`() {
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
        var reply = L2TPMessage(interface: "l2tpeth0", tunnel: 1)
        reply.remote = Self.endpoint
        var end = UeventMessage(action: .add, interface: "l2tpeth0", index: 9)
        end.probe = .answered
        story.find([.l2tp(reply), .route(.init(egress: 3, to: .init(address: Self.endpoint))), .uevent(end)])
        #expect(story.statuses == [.cellular])
        #expect(story.changes.first?.path.carriers.map(\.name) == ["wwan0"])
    }

    @Test func `no further query is made while nothing changes`() {
        var story = story()
        start(&story, egress: 3)
        story.wait(.seconds(60))
        #expect(queryCount(story) == 0)
        #expect(story.statuses == [.cellular])
    }

    @Test func `an endpoint's route that moves when its carrier is lost is no outage`() {
        var story = story()
        start(&story, egress: 2)
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        #expect(queryCount(story) == 1)
        #expect(story.statuses == [.wifi])
        setEgress(&story, egress: 3)
        #expect(story.statuses == [.wifi, .cellular])
    }

    @Test func `an endpoint's route that stays without a carrier is an outage once the kernel has confirmed it`() {
        var story = story()
        start(&story, egress: 2)
        story.notify(.link(Entry.link(2, "wan0", carrier: false)))
        setEgress(&story, egress: 2)
        #expect(story.statuses == [.wifi, .notReachable])
        #expect(story.changes.last?.reasons == [.carrierLost])
    }

    @Test func `changes that may have moved an endpoint's route are coalesced into one query`() {
        var story = story()
        start(&story, egress: 2)
        for metric in 200..<300 {
            story.notify(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: UInt32(metric))))
        }
        story.wait(.seconds(1))
        #expect(queryCount(story) == 1)
        #expect(story.statuses == [.wifi])
        setEgress(&story, egress: 3)
        #expect(queryCount(story) == 2, "once more for all that came meanwhile")
        setEgress(&story, egress: 3)
        #expect(story.statuses == [.wifi, .cellular])
    }

    @Test func `without privilege there is one query, and the best default path outside the tunnel is used`() {
        var story = story()
        story.start()
        var end = UeventMessage(action: .add, interface: "wg0", index: 9)
        end.probe = .failed("its endpoint cannot be queried: Operation not permitted")
        story.find([.uevent(end)])
        #expect(story.statuses == [.wifi])
        #expect(story.changes[0].path.carriers.map(\.name) == ["wan0"])
        story.notify(.route(Entry.defaultRoute(via: "192.0.2.1", on: 2, metric: 50)))
        story.wait(.seconds(1))
        #expect(queryCount(story) == 1)
    }

    @Test func `a missing reply of the kernel delays the first state for a second`() {
        var story = story()
        story.start()
        story.wait(.seconds(1))
        #expect(story.statuses == [.wifi])
    }

    @Test func `the end of a reply about a tunnel is no change of a device`() {
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
        story.notify(.route(Entry.defaultRoute(via: "10.0.0.1", on: 9)))
        var end = UeventMessage(action: .add, interface: "gre1", index: 9)
        end.probe = .answered
        story.find([.route(.init(egress: 3, to: .init(address: Self.endpoint))), .uevent(end)])
        #expect(story.statuses == [.wifi, .cellular])
        #expect(story.changes.last?.reasons == [.routeAdded, .tunnelChanged])
    }

    @Test func `a tunnel that no path uses is not queried`() {
        var story = story()
        story.changeSilently(.routeRemoved(Entry.defaultRoute(via: "10.0.0.1", on: 9)))
        story.start()
        story.wait(.seconds(1))
        #expect(queryCount(story) == 0)
        #expect(story.statuses == [.wifi])
    }
}
