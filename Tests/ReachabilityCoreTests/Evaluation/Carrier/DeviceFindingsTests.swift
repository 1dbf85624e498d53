import Testing

@testable import ReachabilityCore

/// Which findings suffice to distinguish a modem from Ethernet.
struct DeviceFindingsTests {
    @Test("sysfs suffices if it shows the interface, whatever else fails")
    func sysfs() {
        var findings = DeviceFindings(index: 3, name: "wwan0")
        findings.isInSysfs = true
        findings.deviceType = "wwan"
        findings.driverFault = "Operation not permitted"
        #expect(findings.message.probe == .answered)
        #expect(findings.message.deviceType == "wwan")
    }

    @Test("Without sysfs, a driver suffices that serves only modems or no modem")
    func driver() {
        var findings = DeviceFindings(index: 3, name: "eth0")
        findings.driver = "e1000e"
        #expect(findings.message.probe == .answered)
        findings.driver = "qmi_wwan"
        #expect(findings.message.probe == .answered)
    }

    @Test("Without sysfs, a driver of modems and other devices does not suffice")
    func ambiguousDriver() {
        var findings = DeviceFindings(index: 3, name: "usb0")
        findings.driver = "cdc_ether"
        guard case .failed(let why) = findings.message.probe else {
            Issue.record("taken for identified")
            return
        }
        #expect(why == "sysfs does not show this interface, and its driver cdc_ether serves modems and others alike")
    }

    @Test("An interface that nl80211 knows needs no other finding")
    func wireless() {
        var findings = DeviceFindings(index: 3, name: "wlan0")
        findings.isWireless = true
        #expect(findings.message.probe == .answered)
    }

    @Test("Without any finding the failure's text is kept")
    func nothing() {
        var findings = DeviceFindings(index: 3, name: "eth0")
        findings.driverFault = "Operation not permitted"
        let why = "sysfs does not show this interface, and its driver cannot be queried: Operation not permitted"
        #expect(findings.message.probe == .failed(why))
    }

    @Test("Findings survive a recording", arguments: [DeviceProbe.answered, .failed("no driver")])
    func survivesRecording(probe: DeviceProbe) throws {
        var message = UeventMessage(action: .add, interface: "wwan0", index: 3, deviceType: "wwan")
        message.driver = "cdc_ether"
        message.probe = probe
        var read: [KernelEvent] = []
        try NetlinkDecoder(protocolNumber: NetlinkDecoder.uevent)
            .decode(NetlinkEncoder().encode(.uevent(message)).span.bytes) { read.append($1) }
        #expect(read == [.uevent(message)])
    }
}
