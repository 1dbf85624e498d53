import NetwatchCore
import Testing

@testable import ReachabilityCore

/// The diagnosis of interfaces while there is no default route.
@Suite struct LinkSentenceTests {
    private func texts(_ machine: BrokenMachine) -> [String] { machine.sentences.map(\.text) }

    @Test func `a machine without interfaces is diagnosed`() {
        var machine = BrokenMachine()
        machine.snapshot.links.removeLast()
        #expect(texts(machine) == ["there is no network interface but loopback"])
        machine.addLink(5, "wg0") { link in
            link.kind = "wireguard"
            link.hardwareType = .none
        }
        #expect(texts(machine) == ["there is no network interface but loopback and wg0"])
    }

    @Test func `interfaces that are down are diagnosed`() {
        var machine = BrokenMachine()
        machine.setDown(2)
        #expect(machine.sentences == [.init("eth0 is switched off (down)", fix: "'ip link set dev eth0 up'")])
        machine.kindRules = [.init(pattern: "wlan*", kind: .wifi)]
        machine.addLink(3, "wlan0")
        machine.setDown(3)
        #expect(texts(machine) == ["eth0 and wlan0 are switched off (down)"])
        machine.snapshot.links.remove(at: 1)
        #expect(
            machine.sentences.map(\.fix) == ["'ip link set dev wlan0 up'; if that is refused, 'rfkill unblock wifi'"]
        )
        for index in 4...9 as ClosedRange<InterfaceIndex> {
            machine.addLink(index, "eth\(index)")
            machine.setDown(index)
        }
        #expect(texts(machine) == ["wlan0, eth4 and 5 more are switched off (down)"])
    }

    @Test func `the interface that lacks least comes first`() {
        var machine = BrokenMachine()
        machine.kindRules = [.init(pattern: "wlan*", kind: .wifi), .init(pattern: "wwan*", kind: .cellular)]
        machine.setDown(2)
        machine.addLink(3, "wlan0")
        machine.loseCarrier(3)
        machine.addLink(4, "wwan0")
        machine.loseCarrier(4)
        #expect(
            machine.sentences == [
                .init(
                    "wlan0 has no carrier: no WiFi network is joined",
                    fix: "'nmcli device wifi connect SSID ifname wlan0'"
                ),
                .init(
                    "wwan0 has no carrier: the modem is not connected",
                    fix: "'mmcli -m any --simple-connect=apn=APN'"
                ),
                .init("eth0 is switched off (down)", fix: "'ip link set dev eth0 up'"),
            ]
        )
    }

    @Test func `several interfaces without carrier are diagnosed`() {
        var machine = BrokenMachine()
        machine.loseCarrier(2)
        machine.addLink(3, "eth1")
        machine.loseCarrier(3)
        #expect(texts(machine) == ["eth0 and eth1 have no carrier"])
    }

    @Test func `unusable addresses are diagnosed`() {
        var machine = BrokenMachine()
        machine.address("169.254.7.9/16")
        machine.address("fe80::2/64")
        #expect(texts(machine) == ["no DHCP server answered eth0, which gave itself 169.254.7.9"])
        machine.address("2001:db8::2/64", [.tentative, .duplicate])
        #expect(
            machine.sentences == [
                .init(
                    "another host uses eth0's address 2001:db8::2",
                    fix: "'ip address del 2001:db8::2/64 dev eth0', and give it another"
                )
            ]
        )
        machine.snapshot.addresses[2]?[2].flags = .tentative
        #expect(texts(machine) == ["eth0's address 2001:db8::2 is being checked for duplicates"])
        machine.snapshot.addresses[2]?[2].flags = [.tentative, .optimistic]
        #expect(texts(machine) == ["there is no default route, though eth0 has the address 2001:db8::2"])
        #expect(machine.sentences[0].fix?.hasSuffix(" or 'ip -6 route add default via GATEWAY dev eth0'") == true)
    }

    @Test func `a default route with an unusable address is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("2001:db8::2/64", [.tentative, .duplicate])
        machine.route("::/0", via: "fe80::1", metric: 1024)
        #expect(texts(machine) == ["another host uses eth0's address 2001:db8::2"])
    }

    @Test func `an interface that waits for admission is diagnosed`() {
        var machine = BrokenMachine()
        machine.alter(2) { link in
            link.flags = [.up, .lowerUp]
            link.operationalState = .dormant
        }
        #expect(texts(machine) == ["eth0 waits for the network to let it in (802.1X)"])
        machine.snapshot.devices.wireless[2] = .init()
        #expect(texts(machine) == ["eth0 is joining a WiFi network"])
        machine.snapshot.devices.wireless[2]?.association = .disassociated
        #expect(texts(machine) == ["eth0 has no carrier: no WiFi network is joined"])
        machine.alter(2) { $0.flags = .up }
        machine.snapshot.devices.wireless[2]?.association = .associating
        #expect(texts(machine) == ["eth0 is joining a WiFi network"])
    }

    @Test func `stacked interfaces are diagnosed`() {
        var machine = BrokenMachine()
        machine.loseCarrier(2)
        machine.alter(2) { $0.masterIndex = 3 }
        machine.addLink(3, "br0") { $0.kind = "bridge" }
        machine.loseCarrier(3)
        #expect(
            machine.sentences == [
                .init(
                    "br0 has no carrier, as none of its ports has one: eth0",
                    fix: "plug in the cable, and look at what is at its other end"
                )
            ]
        )
        machine.snapshot.links.remove(at: 1)
        #expect(texts(machine) == ["br0 has no carrier, as it has no ports"])
        machine.addLink(4, "eth0.5") { link in
            link.kind = "vlan"
            link.lowerIndex = 2
        }
        machine.addLink(2, "eth0")
        machine.snapshot.links.sort { $0.index < $1.index }
        machine.loseCarrier(4)
        machine.setDown(2)
        machine.address("192.0.2.2/24", on: 4)
        machine.route(via: "192.0.2.1", on: 4)
        #expect(
            machine.sentences == [
                .init("eth0.5 has no carrier, as eth0 is switched off (down)", fix: "'ip link set dev eth0 up'")
            ]
        )
    }

    @Test func `interfaces that are below each other are diagnosed`() {
        var machine = BrokenMachine()
        machine.alter(2) { link in
            link.kind = "netkit"
            link.lowerIndex = 3
        }
        machine.addLink(3, "eth1") { link in
            link.kind = "netkit"
            link.lowerIndex = 2
        }
        machine.loseCarrier(2)
        machine.loseCarrier(3)
        #expect(
            texts(machine) == [
                "eth0 has no carrier, as eth1 has no carrier",
                "eth1 has no carrier, as eth0 has no carrier",
            ]
        )
    }

    @Test func `containers' bridges are not diagnosed as the machine's own uplink`() {
        var machine = BrokenMachine()
        machine.loseCarrier(2)
        machine.addLink(3, "docker0") { $0.kind = "bridge" }
        machine.address("172.17.0.1/16", on: 3)
        machine.addLink(4, "veth1") { link in
            link.kind = "veth"
            link.masterIndex = 3
        }
        #expect(texts(machine) == ["eth0 has no carrier"])
    }

    @Test func `in a container the virtual interface is the uplink`() {
        var machine = BrokenMachine()
        machine.alter(2) { $0.kind = "veth" }
        machine.loseCarrier(2)
        #expect(
            machine.sentences == [
                .init("eth0 has no carrier, as its other end is down", fix: "set its other end up")
            ]
        )
    }

    @Test func `control characters in a name are escaped`() {
        var machine = BrokenMachine()
        machine.alter(2) { $0.name = "e\u{1B}[2J" }
        machine.setDown(2)
        #expect(texts(machine) == ["e\\u{1b}[2J is switched off (down)"])
    }
}
