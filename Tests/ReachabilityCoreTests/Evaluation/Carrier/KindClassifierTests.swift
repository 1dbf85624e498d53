import Testing

@testable import ReachabilityCore

/// The kinds of interfaces, from the messages of real kernels.
struct KindClassifierTests {
    /// One interface as a kernel shows it.
    struct Specimen: Sendable, CustomTestStringConvertible {
        var name: String
        var hardware: HardwareType = .ethernet
        var kind: String?
        var deviceType: String?
        var driver: String?
        var isWireless = false
        var expected: InterfaceKind
        var source: KindSource
        var testDescription: String { name }
    }

    static let specimens: [Specimen] = [
        .init(name: "wlan0", deviceType: "wlan", expected: .wifi, source: .devtype),
        .init(name: "mon0", hardware: .wirelessMonitor, deviceType: "wlan", expected: .wifi, source: .devtype),
        .init(name: "hwsim0", hardware: .wirelessMonitor, expected: .other, source: .arphrd),
        .init(name: "wwan0", deviceType: "wwan", expected: .cellular, source: .devtype),
        .init(name: "qmi0", hardware: .none, deviceType: "wwan", expected: .cellular, source: .devtype),
        .init(name: "rmnet0", hardware: .rawIP, expected: .cellular, source: .arphrd),
        .init(name: "hwsimwwan", hardware: .none, kind: "wwan", expected: .cellular, source: .infoKind),
        .init(name: "usb0", deviceType: "gadget", expected: .wired, source: .devtype),
        .init(name: "ppp0", hardware: .ppp, kind: "ppp", deviceType: "ppp", expected: .other, source: .infoKind),
        .init(name: "wlan1", deviceType: "wlan", isWireless: true, expected: .wifi, source: .nl80211),
        .init(name: "mon1", hardware: .wirelessMonitor, isWireless: true, expected: .wifi, source: .nl80211),
        .init(name: "wwan1", deviceType: "wwan", driver: "qmi_wwan", expected: .cellular, source: .driver),
        .init(name: "wwan2", hardware: .none, driver: "qmi_wwan", expected: .cellular, source: .driver),
        .init(name: "wwan3", deviceType: "wwan", driver: "cdc_ether", expected: .cellular, source: .devtype),
        .init(name: "usb1", driver: "cdc_ether", expected: .wired, source: .plain),
        .init(name: "enx0", driver: "rndis_host", expected: .wired, source: .plain),
        .init(name: "rmnet_data0", hardware: .vendorRawIP, expected: .cellular, source: .arphrd),
        .init(name: "ccmni0", expected: .cellular, source: .arphrd),
        .init(name: "eth0", expected: .wired, source: .plain),
        .init(name: "lan1", kind: "dsa", deviceType: "dsa", expected: .wired, source: .infoKind),
        .init(name: "br0", kind: "bridge", deviceType: "bridge", expected: .virtual, source: .infoKind),
        .init(name: "veth0", kind: "veth", expected: .virtual, source: .infoKind),
        .init(name: "wg0", hardware: .none, kind: "wireguard", expected: .tunnel, source: .infoKind),
        .init(name: "tun0", hardware: .none, kind: "tun", expected: .tunnel, source: .infoKind),
        .init(name: "tap0", kind: "tun", expected: .tunnel, source: .infoKind),
        .init(name: "gre0", hardware: .gre, expected: .tunnel, source: .arphrd),
        .init(name: "sit0", hardware: .sit, kind: "sit", expected: .tunnel, source: .infoKind),
        .init(name: "pfcp0", hardware: .none, kind: "pfcp", expected: .tunnel, source: .infoKind),
        .init(name: "l2tpeth0", deviceType: "l2tpeth", expected: .tunnel, source: .devtype),
        .init(name: "can0", hardware: .init(rawValue: 280), kind: "can", expected: .other, source: .infoKind),
        .init(name: "slcan0", hardware: .init(rawValue: 280), expected: .other, source: .arphrd),
        .init(name: "vcan0", hardware: .init(rawValue: 280), kind: "vcan", expected: .virtual, source: .infoKind),
        .init(name: "none0", hardware: .none, expected: .other, source: .arphrd),
        .init(name: "new0", kind: "newkind", expected: .other, source: .infoKind),
    ]

    @Test("An interface is classified by its kernel attributes", arguments: specimens)
    func classifies(_ specimen: Specimen) {
        var machine = Machine()
        machine.link(2, specimen.name) { link in
            link.kind = specimen.kind
            link.hardwareType = specimen.hardware
        }
        var device = UeventMessage(action: .add, interface: specimen.name, index: 2, deviceType: specimen.deviceType)
        device.driver = specimen.driver
        machine.snapshot.devices[2] = device
        if specimen.isWireless { machine.snapshot.devices.wireless[2] = .init() }
        guard let link = machine.snapshot.link(2) else { return }
        let (kind, source) = KindClassifier(rules: []).classify(link, in: machine.snapshot)
        #expect(kind == specimen.expected)
        #expect(source == specimen.source)
    }

    @Test("The first matching kind rule takes precedence, except for the loopback")
    func rules() {
        let machine = Machine()
        guard let link = machine.snapshot.link(1) else { return }
        #expect(KindClassifier(rules: []).classify(link, in: machine.snapshot) == (.loopback, .arphrd))
        let rules = [KindRule(pattern: "l?", kind: .wifi), KindRule(pattern: "*", kind: .cellular)]
        #expect(KindClassifier(rules: rules).classify(link, in: machine.snapshot) == (.wifi, .rule))
    }

    @Test(
        "Patterns",
        arguments: [
            ("wwan*", "wwan0", true), ("wwan*", "wwan", true), ("wwan*", "wlan0", false), ("*", "", true),
            ("", "", true), ("", "a", false), ("?", "", false), ("e?h0", "eth0", true), ("*0", "eth10", true),
            ("*1*0", "eth100", true), ("*a*b", "xaxbx", false), ("**", "x", true), ("eth0", "eth01", false),
            ("[a]", "[a]", true), ("*ab", "aab", true),
        ]
    )
    func patterns(pattern: String, name: String, matches: Bool) {
        #expect(KindRule(pattern: pattern, kind: .wifi).matches(name) == matches)
    }
}
