import Testing

@testable import ReachabilityCore

/// The physical interfaces below stacked interfaces.
struct CarrierResolverTests {
    /// A modem (2) and an Ethernet port (3), both up, neither with a route.
    private func machine() -> Machine {
        var machine = Machine()
        machine.link(2, "wwan0")
        machine.link(3, "eth0")
        machine.snapshot.devices[2] = .init(action: .add, interface: "wwan0", index: 2, deviceType: "wwan")
        return machine
    }

    private func stacked(
        _ kind: String,
        over lower: InterfaceIndex? = nil,
        members: [InterfaceIndex] = [],
        _ alter: (inout Link) -> Void = { _ in }
    ) -> Machine {
        var machine = machine()
        machine.link(9, "stack0") { link in
            link.kind = kind
            link.lowerIndex = lower
            alter(&link)
        }
        for member in members { machine.alter(member) { $0.masterIndex = 9 } }
        machine.address(9, "192.0.2.2/24")
        machine.route(via: "192.0.2.1", on: 9)
        return machine
    }

    private func carriers(_ machine: Machine) -> [String] { machine.evaluate().path.carriers.map(\.name) }

    @Test(
        "A stacked interface is carried by the interface below it",
        arguments: ["vlan", "macvlan", "ipvlan", "vxlan", "gre"]
    )
    func lower(kind: String) {
        let machine = stacked(kind, over: 2)
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
        #expect(machine.evaluate().path.interface?.name == "stack0")
    }

    @Test("An interface with ports is cellular only if all its usable ports are")
    func members() {
        var machine = stacked("bridge", members: [2, 3])
        #expect(carriers(machine) == ["wwan0", "eth0"])
        #expect(machine.evaluate().path.status == .wifi)
        machine.loseCarrier(3)
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
    }

    @Test("A bond is carried by its active port")
    func bonds() {
        #expect(carriers(stacked("bond", members: [2, 3]) { $0.bondActivePort = 2 }) == ["wwan0"])
        var machine = stacked("bond", members: [2, 3])
        machine.alter(2) { $0.bondPortIsActive = false }
        machine.alter(3) { $0.bondPortIsActive = true }
        #expect(carriers(machine) == ["eth0"])
    }

    /// A team of both, whose options the driver has reported.
    private func team(_ alter: (inout TeamMessage) -> Void) -> Machine {
        var machine = stacked("team", members: [2, 3])
        var options = TeamMessage(index: 9)
        alter(&options)
        _ = machine.snapshot.apply(.team(options), Self.header, at: Machine.now)
        return machine
    }

    private static let header = NetlinkHeader(length: 16, type: 0, flags: [], sequence: 0, port: 0)

    @Test("A team is carried by its active port, even if other ports have a carrier")
    func teamActivePort() {
        var machine = team { ($0.mode, $0.activePort) = (TeamMessage.activeBackup, 2) }
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
    }

    @Test("A team in mode activebackup without an active port has no carrier")
    func teamWithoutActivePort() {
        let machine = team { ($0.mode, $0.activePort) = (TeamMessage.activeBackup, 0) }
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
    }

    @Test("A team in another mode is carried by its enabled ports")
    func teamEnabledPorts() {
        let machine = team { ($0.mode, $0.enabledPorts) = ("roundrobin", [2: false, 3: true]) }
        #expect(carriers(machine) == ["eth0"])
        #expect(carriers(team { $0.mode = "roundrobin" }) == ["wwan0", "eth0"])
    }

    @Test("A team whose options are unknown is carried by each port with a carrier, with a reason")
    func teamUnknown() {
        var machine = stacked("team", members: [2, 3])
        #expect(carriers(machine) == ["wwan0", "eth0"])
        #expect(machine.evaluate().path.reasons == [.carrierUnknown])
        machine.loseCarrier(2)
        #expect(carriers(machine) == ["eth0"])
        #expect(machine.evaluate().path.reasons.isEmpty)
    }

    @Test("An event about one option of a team keeps the others, except the active port of another mode")
    func teamEvents() {
        var machine = team { ($0.mode, $0.activePort) = (TeamMessage.activeBackup, 2) }
        var event = TeamMessage(index: 9)
        event.activePort = 3
        #expect(machine.snapshot.apply(.team(event), Self.header, at: Machine.now).reasons == [.linkChanged])
        #expect(carriers(machine) == ["eth0"])
        #expect(!machine.snapshot.apply(.team(event), Self.header, at: Machine.now).changed)
        event = .init(index: 9)
        event.mode = "broadcast"
        machine.snapshot.apply(.team(event), Self.header, at: Machine.now)
        #expect(carriers(machine) == ["wwan0", "eth0"])
    }

    @Test("A modem's session (rmnet) is unusable while the modem is down or has no carrier")
    func rmnet() {
        var machine = stacked("rmnet", over: 2) { $0.hardwareType = .rawIP }
        #expect(carriers(machine) == ["stack0"])
        #expect(machine.evaluate().path.status == .cellular)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
        machine.alter(2) { $0.flags = [] }
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .interfaceDown)
        machine.alter(9) { $0.lowerNamespace = 0 }
        #expect(machine.evaluate().path.status == .cellular, "the modem in another namespace is not known")
    }

    /// A Wi-Fi interface (4) in a mode.
    private func wireless(_ mode: WirelessMode, _ machine: inout Machine) {
        machine.link(4, "wlan0")
        machine.snapshot.devices.wireless[4] = .init()
        machine.snapshot.devices.wireless[4]?.mode = mode
    }

    @Test("The machine's own access point is no uplink unless a kind rule says so")
    func ownAccessPoint() {
        var machine = machine()
        wireless(.accessPoint, &machine)
        machine.address(4, "192.0.2.2/24")
        machine.route(via: "192.0.2.1", on: 4)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .accessPoint)
        machine.kindRules = [.init(pattern: "wlan*", kind: .wifi)]
        #expect(machine.evaluate().path.status == .wifi)
        machine.kindRules = []
        machine.snapshot.devices.wireless[4]?.mode = .station
        #expect(machine.evaluate().path.status == .wifi)
    }

    @Test("A bridge of the machine's own access point and a modem is carried by the modem")
    func accessPointInBridge() {
        var machine = stacked("bridge", members: [2])
        wireless(.accessPoint, &machine)
        machine.alter(4) { $0.masterIndex = 9 }
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A bond whose active port is unusable is unusable, even if other ports are usable")
    func dormantPort() {
        var machine = stacked("bond", members: [2, 3]) { $0.bondActivePort = 3 }
        machine.snapshot.devices.wireless[3] = .init()
        machine.alter(3) { $0.operationalState = .dormant }
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons.first == .associating)
        machine.alter(3) { $0.operationalState = .up }
        #expect(machine.evaluate().path.status == .wifi)
        machine.snapshot.devices.wireless[3]?.association = .disassociated
        #expect(machine.evaluate().path.reasons.first == .noCarrier, "nl80211 says so before the link does")
        machine.alter(9) { $0.bondActivePort = 2 }
        #expect(machine.evaluate().path.status == .cellular)
    }

    @Test("A bond without carrier on its active port stays usable only while it is about to replace it")
    func failover() {
        var machine = stacked("bond", members: [2, 3]) { $0.bondActivePort = 3 }
        machine.loseCarrier(3)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
        machine.alter(9) { $0.bondReplacesPorts = true }
        #expect(carriers(machine) == ["eth0"])
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
    }

    @Test("A bond in another mode needs one usable port")
    func balancedBond() {
        var machine = stacked("bond", members: [2, 3])
        for port in [2, 3] as [InterfaceIndex] { machine.alter(port) { $0.bondPortIsActive = true } }
        machine.loseCarrier(3)
        #expect(carriers(machine) == ["wwan0"])
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
    }

    @Test("A VLAN needs the carrier of its lower interface", arguments: ["vlan", "macvlan"])
    func deadLower(kind: String) {
        var machine = stacked(kind, over: 2)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
        #expect(carriers(machine) == [])
    }

    @Test("A bridge whose uplink lost its carrier is unusable despite a guest", arguments: ["veth", "tun"])
    func pulledCable(kind: String) {
        var machine = stacked("bridge", members: [3])
        machine.link(5, "guest0") { link in
            link.kind = kind
            link.masterIndex = 9
            if kind == "veth" { (link.lowerIndex, link.lowerNamespace) = (2, 0) }
        }
        #expect(carriers(machine) == ["eth0"])
        machine.loseCarrier(3)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().path.reasons == [.noCarrier, .noRoute])
        machine.alter(3) { $0.masterIndex = nil }
        #expect(machine.evaluate().path.status == .wifi, "never had an uplink, for all that is known")
        machine.snapshot.mastersWithUplink = [9]
        #expect(machine.evaluate().path.reasons.first == .noCarrier)
    }

    @Test("A port that a kind rule names is an uplink")
    func namedUplink() {
        var machine = stacked("bridge")
        for index in [5, 6] as [InterfaceIndex] {
            machine.link(index, "veth\(index)") { link in
                (link.kind, link.masterIndex, link.lowerIndex, link.lowerNamespace) = ("veth", 9, 2, 0)
            }
        }
        #expect(carriers(machine) == ["veth5", "veth6"])
        machine.kindRules = [.init(pattern: "veth5", kind: .wired)]
        #expect(carriers(machine) == ["veth5"])
        machine.loseCarrier(5)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A bridge with a hardware port is not carried by its containers")
    func containers() {
        var machine = stacked("bridge", members: [2])
        machine.link(5, "veth5") { link in
            link.kind = "veth"
            link.masterIndex = 9
        }
        #expect(carriers(machine) == ["wwan0"])
        machine.loseCarrier(2)
        #expect(carriers(machine) == ["veth5"])
    }

    @Test(
        "With nothing beneath, an interface carries itself, and counts as wired",
        arguments: ["bridge", "veth", "dummy"]
    )
    func alone(kind: String) {
        let machine = stacked(kind)
        #expect(carriers(machine) == ["stack0"])
        #expect(machine.evaluate().path.status == .wifi)
    }

    @Test("A veth's peer is not its lower interface")
    func vethPeer() {
        #expect(carriers(stacked("veth", over: 2)) == ["stack0"])
    }

    @Test("A lower interface in another namespace is unknown and does not count as cellular")
    func elsewhere() {
        let machine = stacked("macvlan", over: 2) { $0.lowerNamespace = 0 }
        #expect(carriers(machine) == ["stack0"])
        #expect(machine.evaluate().path.status == .wifi)
        #expect(machine.evaluate().path.reasons == [.carrierElsewhere])
    }

    @Test("A tunnel is carried by the best default path that does not lead through it")
    func tunnel() {
        var machine = stacked("wireguard")
        #expect(machine.evaluate().path.reasons == [.carrierUnknown])
        machine.address(2, "198.51.100.2/24")
        machine.route(via: "198.51.100.1", on: 2, metric: 9)
        #expect(carriers(machine) == ["wwan0"])
        #expect(machine.evaluate().path.status == .cellular)
        machine.snapshot.routes[.init(.ipv4, .main)]?.removeLast()
        machine.route("::/0", via: "fe80::1", on: 3)
        machine.address(3, "2001:db8::3/64")
        #expect(machine.evaluate().ipv4.path?.carriers.map(\.name) == ["eth0"], "beneath by the other family")
    }

    @Test("A tunnel whose marked packets skip the rules is carried by the default route of table main")
    func killSwitch() {
        var machine = machine()
        machine.link(9, "wg0") { $0.kind = "wireguard" }
        machine.address(9, "10.0.0.2/32")
        machine.address(2, "198.51.100.2/24")
        let table = RouteTableID(rawValue: 51_820)
        machine.route(on: 9, metric: 1, table: table)
        machine.route(metric: 2, table: table) { $0.message.type = .unreachable }
        machine.route(via: "198.51.100.1", on: 2)
        machine.rule(100, table: table) { rule in
            rule.mark = .init(value: 0xCA6C, mask: .max)
            rule.flags = .invert
        }
        #expect(machine.evaluate().path.interface?.name == "wg0")
        #expect(carriers(machine) == ["wwan0"])
    }

    @Test("Resolution ends for nested tunnels and for cyclic stacks")
    func cycles() {
        var machine = stacked("wireguard")
        machine.link(8, "tun0") { $0.kind = "tun" }
        machine.address(8, "10.0.0.2/32")
        machine.route(on: 8, metric: 5)
        #expect(carriers(machine) == ["tun0"])
        #expect(machine.evaluate().path.reasons == [.carrierUnknown])
        var loop = stacked("vlan", over: 8)
        loop.link(8, "vlan8") { link in
            link.kind = "vlan"
            link.lowerIndex = 9
        }
        #expect(carriers(loop) == ["vlan8"])
        #expect(carriers(stacked("vlan", over: 9)) == ["stack0"])
    }

    @Test("Resolution ends in a stack that is higher than the kernel allows")
    func height() {
        var machine = stacked("vlan", over: 100)
        for index in 100...199 as ClosedRange<InterfaceIndex> {
            machine.link(index, "vlan\(index)") { link in
                link.kind = "vlan"
                link.lowerIndex = index < 199 ? index + 1 : 3
            }
        }
        #expect(carriers(machine) == ["vlan162"])
        #expect(machine.evaluate().path.reasons == [.carrierUnknown])
    }

    @Test("A stack of bridges whose ports share the next bridge is resolved without following each path")
    func sharedLower() {
        var machine = stacked("vlan", over: 100)
        for level in 0..<30 as Range<InterfaceIndex> {
            let bridge = 100 + 10 * level
            machine.link(bridge, "br\(level)") { $0.kind = "bridge" }
            for port in bridge + 1...bridge + 3 {
                machine.link(port, "vlan\(port)") { link in
                    link.kind = "vlan"
                    link.masterIndex = bridge
                    link.lowerIndex = level < 29 ? bridge + 10 : 3
                }
            }
        }
        #expect(carriers(machine) == ["eth0"])
        #expect(machine.evaluate().path.reasons.isEmpty)
    }

    @Test("A kind rule for a stacked interface ends the search below it")
    func userRule() {
        var machine = stacked("bridge", members: [3])
        machine.kindRules = [.init(pattern: "stack*", kind: .cellular)]
        #expect(carriers(machine) == ["stack0"])
        #expect(machine.evaluate().path.status == .cellular)
    }
}
