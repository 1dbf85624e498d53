import Testing

@testable import ReachabilityCore

/// Whether a path is expensive, and whether it is constrained.
struct PathCostTests {
    private func machine(driver: String? = nil, deviceType: String? = nil) -> Machine {
        var machine = Machine()
        machine.link(2, "enx02")
        var device = UeventMessage(action: .add, interface: "enx02", index: 2, deviceType: deviceType)
        device.driver = driver
        machine.snapshot.devices[2] = device
        machine.address(2, "192.0.2.2/24")
        machine.route(via: "192.0.2.1", on: 2)
        return machine
    }

    private func path(_ machine: Machine, expensive: [String] = [], constrained: [String] = []) -> NetworkPath {
        let context = EvaluationContext(user: 0, expensive: expensive, constrained: constrained)
        return PathEvaluator(context: context).evaluate(machine.snapshot, at: Machine.now).path
    }

    @Test("Ethernet is not expensive")
    func plain() {
        #expect(!path(machine(driver: "e1000e")).isExpensive)
        #expect(!path(machine(driver: "cdc_ncm")).isExpensive, "an adapter as well as a phone")
        #expect(!path(machine()).isConstrained)
    }

    @Test(
        "A modem does, and a phone that shares its connection",
        arguments: [
            ("qmi_wwan", nil), ("cdc_ether", "wwan"), ("ipheth", nil), (nil, "bluetooth"),
        ] as [(String?, String?)]
    )
    func signs(driver: String?, deviceType: String?) {
        let path = path(machine(driver: driver, deviceType: deviceType))
        #expect(path.isExpensive)
        #expect(path.ipv4?.isExpensive == true)
        #expect(!path.isConstrained)
    }

    @Test("An interface that the user declares is expensive or constrained, also below stacked interfaces")
    func declared() {
        var machine = machine()
        #expect(path(machine, expensive: ["enx*"]).isExpensive)
        #expect(!path(machine, expensive: ["wl*"]).isExpensive)
        #expect(path(machine, constrained: ["enx02"]).isConstrained)
        #expect(!path(machine, constrained: ["enx02"]).isExpensive)
        machine.link(9, "vlan7") { link in
            link.kind = "vlan"
            link.lowerIndex = 2
        }
        machine.address(9, "198.51.100.2/24")
        machine.snapshot.routes = [:]
        machine.route(via: "198.51.100.1", on: 9)
        #expect(path(machine, expensive: ["enx*"]).isExpensive)
        #expect(path(machine, expensive: ["vlan7"]).isExpensive)
    }
}
