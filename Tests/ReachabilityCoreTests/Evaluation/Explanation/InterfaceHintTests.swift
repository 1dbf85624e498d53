import Testing

@testable import ReachabilityCore

/// Hints about interfaces whose kind or carrier is not certain.
struct InterfaceHintTests {
    private func explanation(_ machine: Machine) -> PathExplanation {
        let context = EvaluationContext(user: 0, kindRules: machine.kindRules)
        return .init(of: machine.evaluate(), in: machine.snapshot, context: context, at: Machine.now)
    }

    private func machine(driver: String, deviceType: String? = nil, probe: DeviceProbe = .answered) -> Machine {
        var machine = Machine()
        machine.link(2, "enx02")
        var device = UeventMessage(action: .add, interface: "enx02", index: 2, deviceType: deviceType)
        device.driver = driver
        device.probe = probe
        machine.snapshot.devices[2] = device
        return machine
    }

    @Test("A driver of both phones and adapters gives a hint until a kind rule decides")
    func tethering() {
        var machine = machine(driver: "rndis_host")
        #expect(explanation(machine).hints == [2: .tethering(driver: "rndis_host")])
        machine.kindRules = [.init(pattern: "enx*", kind: .cellular)]
        #expect(explanation(machine).hints.isEmpty)
    }

    @Test("Ethernet drivers, and modems with a device type, give no hint")
    func certain() {
        #expect(explanation(machine(driver: "e1000e")).hints.isEmpty)
        #expect(explanation(machine(driver: "cdc_ether", deviceType: "wwan")).hints.isEmpty)
    }

    @Test("A point-to-point session gives a hint, as it may run over anything")
    func pointToPoint() {
        var machine = Machine()
        machine.link(2, "ppp0") { link in
            link.kind = "ppp"
            link.hardwareType = .ppp
        }
        #expect(explanation(machine).hints == [2: .pointToPoint])
    }

    @Test("A failed device probe gives its error as the hint")
    func unidentified() {
        let machine = machine(driver: "cdc_ether", probe: .failed("no sysfs"))
        #expect(explanation(machine).hints == [2: .unidentified("no sysfs")])
    }

    @Test("An explanation has the basis of a tunnel's carrier")
    func tunnels() {
        let endpoint = IPAddress(ipv4: 0xC633_6407)
        var machine = Machine()
        machine.link(9, "wg0") { $0.kind = "wireguard" }
        #expect(explanation(machine).tunnels == [9: .anyDefaultPath(nil)])
        var device = UeventMessage(action: .add, interface: "wg0", index: 9)
        device.probe = .failed("Operation not permitted")
        machine.snapshot.devices[9] = device
        #expect(explanation(machine).tunnels == [9: .anyDefaultPath("Operation not permitted")])
        machine.alter(9) { link in
            link.kind = "gre"
            link.tunnelRemote = endpoint
        }
        #expect(explanation(machine).tunnels == [9: .defaultPath(to: endpoint)])
        machine.snapshot.tunnels.egress[.init(address: endpoint)] = .some(2)
        #expect(explanation(machine).tunnels == [9: .endpoint(endpoint)])
        machine.alter(9) { $0.lowerIndex = 2 }
        #expect(explanation(machine).tunnels.isEmpty, "it is bound to what is beneath")
    }
}
