import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("Links of the lab")
struct LinkTests {
    private let lab: LabNamespace
    private var rtnl: Rtnl { lab.rtnl }

    init() throws { lab = try LabNamespace() }

    @Test("A veth pair has the requested indexes, group and MTU")
    func veth() throws {
        try rtnl.createVeth("wan0", .init(index: 10, group: 7, mtu: 1400), peer: "far0", .init(index: 20))
        let link = try rtnl.link("wan0")
        #expect(link.index == 10)
        #expect(link.group == 7)
        #expect(link.mtu == 1400)
        #expect(link.kind == "veth")
        #expect(link.lowerIndex == 20)
        #expect(try rtnl.link("far0").lowerIndex == 10)
    }

    @Test("A veth's end has its carrier while its peer is up")
    func carrier() throws {
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.setUp("wan0")
        #expect(try rtnl.link("wan0").carrier == false)
        try rtnl.setUp("far0")
        #expect(try rtnl.link("wan0").carrier == true)
        let events = try LabEvents(in: lab)
        try rtnl.setDown("far0")
        try events.wait(for: "the loss of wan0's carrier") { event in
            guard case .link(let link) = event else { return false }
            return link.index == 10 && link.operationalState == .lowerLayerDown
        }
    }

    @Test("Changes of carriers have been announced when setting a link up or down returns")
    func announced() throws {
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        let events = try LabEvents(in: lab, [.links])
        for round in 0..<100 {
            try rtnl.setUp("wan0", "far0")
            #expect(try lastFlags(events)[10]?.contains(.running) == true, "round \(round)")
            try rtnl.setDown("far0")
            #expect(try lastFlags(events)[10]?.contains(.running) == false, "round \(round)")
        }
    }

    /// The flags that each link was last announced with.
    private func lastFlags(_ events: LabEvents) throws -> [InterfaceIndex: LinkFlags] {
        try events.pending().reduce(into: [:]) { flags, event in
            if case .link(let link) = event { flags[link.index] = link.flags }
        }
    }

    @Test("A veth's peer may be in another namespace, with the same index")
    func peerElsewhere() throws {
        let other = try LabNamespace()
        try rtnl.createVeth("wan0", .init(index: 10), peer: "far0", .init(index: 10, namespace: other))
        #expect(try rtnl.link("wan0").lowerNamespace != nil)
        #expect(try other.rtnl.link("far0").index == 10)
    }

    @Test("A link moves to another namespace with its index")
    func move() throws {
        let other = try LabNamespace()
        try rtnl.createIFB("ifb7", .init(index: 77))
        try rtnl.move("ifb7", to: other)
        #expect(try other.rtnl.link("ifb7").index == 77)
        #expect(throws: LabError.self) { try rtnl.link("ifb7") }
    }

    @Test("Bridges, ifbs, macvlans and VXLANs have their kinds")
    func kinds() throws {
        try rtnl.createVeth("wan0", peer: "far0")
        try rtnl.createBridge("br0", .init(index: 30))
        try rtnl.createIFB("ifb7")
        try rtnl.createMacvlan("mac0", over: "wan0")
        try rtnl.createVXLAN("vx0", id: 42, local: IPAddress("127.0.0.1"), over: "wan0")
        for (name, kind) in [("br0", "bridge"), ("ifb7", "ifb"), ("mac0", "macvlan"), ("vx0", "vxlan")] {
            #expect(try rtnl.link(name).kind == kind)
        }
        #expect(try rtnl.link("mac0").lowerIndex == rtnl.index(of: "wan0"))
    }

    @Test("A port has its master until it is detached")
    func master() throws {
        try rtnl.createVeth("wan0", peer: "far0")
        try rtnl.createBridge("br0", .init(index: 30))
        try rtnl.setMaster("wan0", to: "br0")
        #expect(try rtnl.link("wan0").masterIndex == 30)
        #expect(try rtnl.link("wan0").portKind == "bridge")
        try rtnl.setMaster("wan0", to: nil)
        #expect(try rtnl.link("wan0").masterIndex == nil)
    }

    @Test("Group, MTU, name, flags and hardware address can be changed")
    func changes() throws {
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.setGroup("wan0", to: 9)
        try rtnl.setMTU("wan0", to: 1280)
        try rtnl.setHardwareAddress("wan0", to: [2, 0, 0, 0, 0, 9])
        try rtnl.setARP("wan0", false)
        try rtnl.rename("wan0", to: "lte0")
        let link = try rtnl.link("lte0")
        #expect(link.index == 10)
        #expect(link.group == 9)
        #expect(link.mtu == 1280)
        #expect(link.flags.contains(.noARP))
        #expect(try lab.sysctl("net.ipv4.neigh.lte0.mcast_solicit") == "3")
    }

    @Test("In dormant mode a link with a carrier waits for user space")
    func dormant() throws {
        try rtnl.createVeth("wifi0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.setLinkMode("wifi0", to: .dormant)
        try rtnl.setUp("wifi0", "far0")
        let events = try LabEvents(in: lab)
        try events.wait(for: "dormant", untilTrue: { try rtnl.link("wifi0").operationalState == .dormant })
        try rtnl.setOperationalState("wifi0", to: .up)
        #expect(try rtnl.link("wifi0").operationalState == .up)
    }

    @Test("A tun has a carrier while it is open, and can lose it on request")
    func tunnel() throws {
        let tunnel = try LabTunnel("tun0", in: lab)
        try rtnl.setUp("tun0")
        #expect(try rtnl.link("tun0").hardwareType == .none)
        #expect(try rtnl.link("tun0").carrier == true)
        try rtnl.setCarrier("tun0", false)
        #expect(try rtnl.link("tun0").carrier == false)
        tunnel.close()
        // A process that is starting has its descriptor until it executes its program.
        let deadline = ContinuousClock.now + .seconds(120)
        while (try? rtnl.link("tun0")) != nil, ContinuousClock.now < deadline { Polling.pause() }
        #expect(throws: LabError.self) { try rtnl.link("tun0") }
    }

    @Test("A removed link is gone with its peer")
    func delete() throws {
        try rtnl.createVeth("wan0", peer: "far0")
        try rtnl.deleteLink("wan0")
        #expect(throws: LabError.self) { try rtnl.link("far0") }
    }

    @Test("A refusal has the attempt, the errno and the kernel's own message")
    func refusals() throws {
        try rtnl.createIFB("ifb7")
        let twice = #expect(throws: LabError.self) { try rtnl.createIFB("ifb7") }
        #expect(twice?.errno == EEXIST)
        #expect(twice?.operation == "add link ifb7 type ifb")
        let unknown = #expect(throws: LabError.self) { try rtnl.createLink("x", kind: "nonsense") }
        #expect(unknown?.errno == EOPNOTSUPP)
        #expect(unknown?.detail == "Unknown device type")
    }
}
