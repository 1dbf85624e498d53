import Testing

@testable import ReachabilityCore

/// The carriers of a tunnel: those of the path to its endpoint if that is known, otherwise of the best default path
/// outside the tunnel.
struct TunnelCarrierTests {
    /// A default path through a tunnel, another through Ethernet (3), and a modem (2) without any.
    private func machine(_ kind: String, _ alter: (inout Link) -> Void = { _ in }) -> Machine {
        var machine = Machine()
        machine.link(2, "wwan0")
        machine.snapshot.devices[2] = .init(action: .add, interface: "wwan0", index: 2, deviceType: "wwan")
        machine.link(3, "eth0")
        machine.link(9, "tunnel0") { link in
            link.kind = kind
            link.hardwareType = .none
            alter(&link)
        }
        machine.address(2, "203.0.113.2/24")
        machine.address(3, "192.0.2.2/24")
        machine.address(9, "10.0.0.2/32")
        machine.route(on: 9)
        machine.route(via: "192.0.2.1", on: 3, metric: 100)
        return machine
    }

    /// The same with a WireGuard device whose second peer is the default peer.
    private func wireGuard(mark: UInt32 = 0) -> Machine {
        var machine = machine("wireguard")
        var device = WireGuardMessage(index: 9)
        device.mark = mark
        device.peers = [.init(), .init()]
        device.peers[0].endpoint = .init(ipv4: 0xC633_6401)
        device.peers[0].allowed = [.init(.init(ipv4: 0x0A00_0000), length: 8)]
        device.peers[1].endpoint = Self.endpoint
        device.peers[1].allowed = [.all(.ipv4)]
        _ = machine.snapshot.apply(.wireGuard(device), Self.header, at: Machine.now)
        return machine
    }

    private static let endpoint = IPAddress(ipv4: 0xC633_6407)
    private static let header = NetlinkHeader(length: 16, type: 0, flags: [], sequence: 0, port: 0)

    /// Reports the interface through which the kernel sends to the endpoint.
    private func setEgress(_ machine: inout Machine, _ interface: InterfaceIndex?) {
        let link = machine.snapshot.link(9)
        let endpoint = link.flatMap { machine.snapshot.tunnels.endpoint(of: $0) } ?? .init(address: Self.endpoint)
        let message = RouteMessage(egress: interface, to: endpoint)
        _ = machine.snapshot.apply(.route(message), Self.header, at: Machine.now)
    }

    private func carriers(_ machine: Machine) -> [String] { machine.evaluate().path.carriers.map(\.name) }

    @Test("A tunnel is carried by the path to the default peer's endpoint, wherever the default routes lead")
    func endpoint() {
        var machine = wireGuard()
        #expect(carriers(machine) == ["eth0"])
        setEgress(&machine, 2)
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
        #expect(machine.evaluate().path.interface?.name == "tunnel0")
    }

    @Test(
        "The remote address that the kernel keeps with the link",
        arguments: ["gre", "sit", "ipip", "vxlan", "geneve", "vti"]
    )
    func remote(kind: String) {
        var machine = machine(kind) { $0.tunnelRemote = Self.endpoint }
        #expect(carriers(machine) == ["eth0"])
        setEgress(&machine, 2)
        #expect(carriers(machine) == ["wwan0"])
    }

    @Test("An L2TP session is carried by the path to its tunnel's remote address, once L2TP has reported it")
    func l2tp() {
        var machine = machine("l2tpeth") { link in
            link.kind = nil
            link.hardwareType = .ethernet
        }
        machine.snapshot.devices[9] = .init(action: .add, interface: "tunnel0", index: 9, deviceType: "l2tpeth")
        #expect(machine.evaluate().path.interface?.kind == .tunnel)
        #expect(carriers(machine) == ["eth0"])
        var session = L2TPMessage(interface: "tunnel0", tunnel: 1)
        session.remote = Self.endpoint
        #expect(machine.snapshot.apply(.l2tp(session), Self.header, at: Machine.now).reasons == [.tunnelChanged])
        setEgress(&machine, 2)
        #expect(carriers(machine) == ["wwan0"])
        session.interface = "gone0"
        #expect(!machine.snapshot.apply(.l2tp(session), Self.header, at: Machine.now).changed)
    }

    @Test("A reply about an address that is no tunnel's endpoint is not kept")
    func strangers() {
        var machine = machine("wireguard")
        setEgress(&machine, 2)
        #expect(machine.snapshot.tunnels.egress.isEmpty)
    }

    @Test("A tunnel without a carrier below it is unusable, even if it is up itself")
    func deadUnderlay() {
        var machine = wireGuard()
        machine.loseCarrier(3)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
        setEgress(&machine, 2)
        #expect(machine.evaluate().path.status == .cellular)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A tunnel that is bound to an interface needs that interface's carrier", arguments: ["gre", "vxlan"])
    func boundTunnel(kind: String) {
        var machine = machine(kind) { $0.lowerIndex = 2 }
        #expect(carriers(machine) == ["wwan0"])
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("Of two default paths below, one of each family, the usable one carries the tunnel")
    func otherFamily() {
        var machine = machine("wireguard")
        machine.address(2, "2001:db8::2/64")
        machine.route("::/0", via: "fe80::1", on: 2)
        machine.loseCarrier(3)
        #expect(machine.evaluate().ipv4.path?.carriers.map(\.name) == ["wwan0"])
    }

    @Test("A tunnel without a route to its endpoint is unusable")
    func noRoute() {
        var machine = wireGuard()
        setEgress(&machine, nil)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .noRoute)
    }

    @Test("A path to the endpoint that ends at a program on this host does not determine the carrier")
    func unusedReply() {
        var machine = wireGuard()
        setEgress(&machine, 1)
        #expect(carriers(machine) == ["eth0"])
    }

    @Test("A tunnel whose endpoint is routed into the tunnel is unusable", arguments: ["wireguard", "gre", "vxlan"])
    func loop(kind: String) {
        var machine = kind == "wireguard" ? wireGuard() : machine(kind) { $0.tunnelRemote = Self.endpoint }
        setEgress(&machine, 9)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .tunnelLoop)
        #expect(machine.evaluate().ipv4.tunnels == [9], "so that it is asked about again")
        setEgress(&machine, 2)
        #expect(machine.evaluate().path.status == .cellular)
    }

    @Test("Two tunnels, each of which is routed into the other, are unusable")
    func mutualLoop() {
        var machine = machine("gre") { $0.tunnelRemote = Self.endpoint }
        machine.link(8, "tunnel1") { link in
            link.kind = "gre"
            link.tunnelRemote = .init(ipv4: 0xC633_6408)
        }
        setEgress(&machine, 8)
        #expect(carriers(machine) == ["eth0"])
        let back = RouteMessage(egress: 9, to: .init(address: .init(ipv4: 0xC633_6408)))
        _ = machine.snapshot.apply(.route(back), Self.header, at: Machine.now)
        #expect(machine.evaluate().path.reasons.first == .tunnelLoop)
    }

    @Test("A tunnel is unusable if its endpoint is routed over a bridge whose only uplink is the tunnel")
    func loopThroughBridge() {
        var machine = machine("vxlan") { link in
            link.tunnelRemote = Self.endpoint
            link.masterIndex = 10
        }
        machine.link(10, "br0") { $0.kind = "bridge" }
        setEgress(&machine, 10)
        #expect(machine.evaluate().path.reasons.first == .tunnelLoop)
        machine.alter(3) { $0.masterIndex = 10 }
        #expect(carriers(machine) == ["eth0"])
    }

    @Test("Two tunnels over one interface are both carried by it")
    func sharedUnderlay() {
        var machine = machine("gre") { $0.masterIndex = 10 }
        machine.link(8, "tunnel1") { link in
            link.kind = "gre"
            link.masterIndex = 10
        }
        machine.link(10, "bond0") { $0.kind = "bond" }
        machine.address(10, "10.0.1.2/32")
        machine.route(on: 10)
        #expect(carriers(machine) == ["eth0"])
    }

    @Test("Replies are distinguished by every field that the kernel's lookup reads")
    func lookupsOfOneDestination() {
        var machine = machine("gre") { $0.tunnelRemote = Self.endpoint }
        machine.link(8, "tunnel1") { link in
            link.kind = "gre"
            link.tunnelRemote = Self.endpoint
            link.tunnelSource = .init(ipv4: 0xCB00_7102)
            link.tunnelMark = 7
            link.tunnelTOS = 0x10
        }
        setEgress(&machine, 3)
        let other = machine.snapshot.link(8).flatMap { machine.snapshot.tunnels.endpoint(of: $0) }
        #expect(other == .init(address: Self.endpoint, source: .init(ipv4: 0xCB00_7102), mark: 7, tos: 0x10))
        guard let other else { return }
        let message = RouteMessage(egress: 2, to: other)
        _ = machine.snapshot.apply(.route(message), Self.header, at: Machine.now)
        #expect(machine.snapshot.tunnels.egress == [.init(address: Self.endpoint): 3, other: 2])
    }

    @Test("Tunnels to one destination that are bound to different interfaces each have a reply")
    func lookupsBoundToLinks() {
        var machine = machine("gre") { link in
            link.tunnelRemote = Self.endpoint
            link.lowerIndex = 3
        }
        machine.link(8, "tunnel1") { link in
            link.kind = "gre"
            link.tunnelRemote = Self.endpoint
            link.lowerIndex = 2
        }
        setEgress(&machine, nil)
        #expect(machine.snapshot.tunnels.egress.map(\.key.interface) == [3])
        #expect(machine.evaluate().path.reasons.first == .noRoute)
    }

    @Test("A reply of an older recording, which has only the destination, counts for the tunnel")
    func olderReply() {
        var machine = machine("gre") { link in
            link.tunnelRemote = Self.endpoint
            link.tunnelSource = .init(ipv4: 0xCB00_7102)
        }
        let message = RouteMessage(egress: 2, to: .init(address: Self.endpoint))
        _ = machine.snapshot.apply(.route(message), Self.header, at: Machine.now)
        #expect(carriers(machine) == ["wwan0"])
    }

    @Test("Until the kernel replies, rules are evaluated with the tunnel's source and TOS")
    func sourceAndTOS() {
        var machine = machine("gre") { link in
            link.tunnelRemote = Self.endpoint
            link.tunnelSource = IPAddress("203.0.113.2")
        }
        machine.route(via: "203.0.113.1", on: 2, table: .init(rawValue: 77))
        machine.rule(50, table: .init(rawValue: 77)) { $0.source = .init(test: "203.0.113.2/32") }
        #expect(carriers(machine) == ["wwan0"])
        machine.alter(9) { $0.tunnelSource = nil }
        #expect(carriers(machine) == ["eth0"])
        machine.rule(60, table: .init(rawValue: 77)) { $0.tos = 0x10 }
        #expect(carriers(machine) == ["eth0"])
        machine.alter(9) { $0.tunnelTOS = 0x10 }
        #expect(carriers(machine) == ["wwan0"])
        machine.alter(9) { $0.tunnelTOS = 1 }
        #expect(carriers(machine) == ["eth0"], "the TOS of the packets inside is 0")
    }

    @Test("Rules are evaluated with the mark of the tunnel's packets")
    func mark() {
        var machine = wireGuard(mark: 7)
        machine.route(via: "203.0.113.1", on: 2, table: .init(rawValue: 77))
        machine.rule(50, table: .init(rawValue: 77)) { $0.mark = .init(value: 7, mask: .max) }
        #expect(carriers(machine) == ["wwan0"])
    }

    @Test("A tunnel whose lower interface is in another namespace has that as its reason")
    func elsewhere() {
        let machine = machine("gre") { $0.lowerNamespace = 0 }
        #expect(carriers(machine) == ["tunnel0"])
        #expect(machine.evaluate().path.reasons == [.carrierElsewhere])
    }

    @Test("A tunnel's properties are removed with it")
    func forgets() {
        var machine = wireGuard()
        setEgress(&machine, 2)
        _ = machine.snapshot.apply(.linkRemoved(.init(index: 9)), Self.header, at: Machine.now)
        #expect(machine.snapshot.tunnels.wireGuard.isEmpty)
        #expect(carriers(machine) == ["eth0"])
    }

    @Test("Evaluating one family after its carrier returned also makes the other family's tunnel usable")
    func halfEvaluation() {
        var machine = Machine()
        machine.link(3, "eth0")
        machine.link(9, "tunnel0") { $0.kind = "sit" }
        machine.address(3, "192.0.2.2/24")
        machine.address(9, "2001:db8::2/64")
        machine.route("::/0", on: 9)
        let evaluator = PathEvaluator(context: .init(user: 0))
        machine.route(via: "192.0.2.1", on: 3)
        machine.loseCarrier(3)
        let before = evaluator.evaluate(machine.snapshot, at: Machine.now)
        #expect(before.ipv6.path == nil)
        machine.link(3, "eth0")
        let now = Machine.now
        let after = evaluator.evaluate(.ipv4, of: machine.snapshot, keepingOther: before, at: now)
        #expect(after.ipv6.path?.carriers.map(\.name) == ["eth0"])
    }
}
