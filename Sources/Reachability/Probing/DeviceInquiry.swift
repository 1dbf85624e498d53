import Glibc
import ReachabilityCore

/// One look at an interface's device: nl80211, then ethtool, then sysfs.
struct DeviceInquiry: Sendable {
    let index: InterfaceIndex
    let name: String
    /// nl80211's number; 0 where there is none.
    let nl80211: UInt16

    /// Looks; may wait for the kernel's configuration lock.
    func run(_ socket: inout DeviceSocket) -> DeviceAnswer {
        var findings = DeviceFindings(index: index, name: name)
        var answer = DeviceAnswer(index: index, name: name)
        if nl80211 != 0, let message = socket.wirelessInterface(index, family: nl80211) {
            findings.isWireless = true
            var families = GenericFamilies()
            families.note(.init(name: GenericFamilies.wirelessName, id: nl80211))
            answer.append(.wireless(message), families)
        }
        look(&socket, &findings)
        answer.end(findings)
        return answer
    }

    private func look(_ socket: inout DeviceSocket, _ findings: inout DeviceFindings) {
        let control = InterfaceControl(descriptor: socket.descriptor, index: index, name: name)
        switch control.driver() {
        case .success(let driver): findings.driver = driver
        case .failure(let fault): findings.driverFault = String(cString: strerror(fault.errno))
        }
        guard let device = sysfsDevice(control.hardwareAddress(), &socket) else { return }
        findings.isInSysfs = true
        findings.deviceType = device.deviceType
        findings.driver = findings.driver ?? device.driver
    }

    /// Reads the interface's files in /sys or, if that shows another network namespace, in a view of its own.
    private func sysfsDevice(_ address: [UInt8]?, _ socket: inout DeviceSocket) -> SysfsDevice? {
        if let device = SysfsDevice(index, name: name, address: address) { return device }
        return socket.namespaceSysfs().flatMap { SysfsDevice(index, name: name, address: address, root: $0) }
    }
}
