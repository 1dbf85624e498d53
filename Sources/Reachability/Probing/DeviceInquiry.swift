import CNetlink
import Glibc
import LinuxSystem
import ReachabilityCore

/// One look at an interface's device: nl80211, then ethtool, then sysfs.
struct DeviceInquiry: Sendable {
    let index: InterfaceIndex
    let name: String
    /// nl80211's number; 0 where there is none.
    let nl80211: UInt16

    /// Looks; may wait for the kernel's configuration lock.
    func run(_ socket: inout DeviceSocket) -> DeviceReport {
        var findings = DeviceFindings(index: index, name: name)
        var report = DeviceReport(index: index, name: name)
        if nl80211 != 0, let message = socket.wirelessInterface(index, family: nl80211) {
            findings.isWireless = true
            report.append(.wireless(message), .init(GenericFamilies.wirelessName, nl80211))
        }
        look(&socket, &findings)
        report.end(findings)
        return report
    }

    private func look(_ socket: inout DeviceSocket, _ findings: inout DeviceFindings) {
        let control = InterfaceControl(descriptor: socket.descriptor, index: index, name: name)
        switch control.driver() {
        case .success(let driver): findings.driver = driver
        case .failure(let fault): findings.driverFault = SystemError(code: fault.errno).description
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

/// Asks the kernel about an interface by ioctl(2), on any socket of the interface's network namespace (netdevice(7)).
///
/// There an interface is identified by its name, which may change: a reply counts only if the name means the same index
/// before and after. The kernel may wait for its configuration lock, so none of this belongs on the event thread.
private struct InterfaceControl {
    /// A socket of the namespace.
    let descriptor: Int32
    let index: InterfaceIndex
    let name: String

    /// The driver's name: `SIOCETHTOOL` with `ETHTOOL_GDRVINFO`; needs no privilege.
    func driver() -> Result<String, Fault> {
        var text = [CChar](repeating: 0, count: 33)
        return ask { netwatch_driver(descriptor, name, &text) }
            .map { String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) }
    }

    /// The hardware address of an interface that has one of 6 bytes: `SIOCGIFHWADDR`.
    func hardwareAddress() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 6)
        guard case .success = ask({ netwatch_hardware_address(descriptor, name, &bytes) }) else { return nil }
        return bytes
    }

    /// The errno of a failed call.
    struct Fault: Error {
        let errno: Int32
    }

    private func ask(_ question: () -> Int32) -> Result<Void, Fault> {
        guard netwatch_interface_index(descriptor, name) == index else { return .failure(.init(errno: ENODEV)) }
        let code = question()
        guard code == 0 else { return .failure(.init(errno: -code)) }
        guard netwatch_interface_index(descriptor, name) == index else { return .failure(.init(errno: ENODEV)) }
        return .success(())
    }
}

/// An interface's attributes in sysfs (sysfs(5), `Documentation/ABI/testing/sysfs-class-net`).
///
/// /sys shows the network namespace in which it was mounted, which may not be the watched one: its attributes
/// count only if they are those of an interface of the same name, index and hardware address.
struct SysfsDevice {
    /// `DEVTYPE`, the name of the device's `device_type`.
    let deviceType: String?
    /// The driver's name, if ethtool is not available.
    let driver: String?

    /// Reads an interface's files; nil if they are not about that interface.
    ///
    /// - Parameters:
    ///   - index: The interface's number.
    ///   - name: Its name.
    ///   - address: Its hardware address in the watched namespace, where it has one.
    ///   - root: Where the interfaces' directories are.
    init?(_ index: InterfaceIndex, name: String, address: [UInt8]?, root: String = "/sys/class/net") {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        let directory = "\(root)/\(name)"
        let fields = Self.fields(of: "\(directory)/uevent")
        guard fields["INTERFACE"] == name, fields["IFINDEX"] == "\(index)" else { return nil }
        if let address, let shown = Self.address("\(directory)/address"), shown != address { return nil }
        deviceType = fields["DEVTYPE"] ?? (Self.isWireless(directory) ? "wlan" : nil)
        driver = Self.driver("\(directory)/device/driver")
    }

    /// Drivers of 802.11 without `DEVTYPE` have one of these.
    private static func isWireless(_ directory: String) -> Bool {
        access("\(directory)/phy80211", F_OK) == 0 || access("\(directory)/wireless", F_OK) == 0
    }

    /// The lines `KEY=VALUE` of a file.
    private static func fields(of path: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in contents(of: path).split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            fields[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
        }
        return fields
    }

    /// A hardware address as sysfs writes it: `02:00:00:00:00:01`; nil where there is none of 6 bytes.
    private static func address(_ path: String) -> [UInt8]? {
        let text = contents(of: path).prefix { $0 != UInt8(ascii: "\n") }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let bytes = parts.compactMap { UInt8(String(decoding: $0, as: UTF8.self), radix: 16) }
        return bytes.count == 6 && parts.count == 6 ? bytes : nil
    }

    /// The contents of a file of at most one page; nothing if it cannot be read.
    private static func contents(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// The last component of where a symbolic link leads (readlink(2)).
    private static func driver(_ path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
            }
        }
        guard let last = target.split(separator: UInt8(ascii: "/")).last else { return nil }
        return String(decoding: last, as: UTF8.self)
    }
}

/// A view of sysfs that shows one network namespace, and is not attached to the file system.
///
/// /sys shows the namespace in which it was mounted. A view of one's own takes `CAP_SYS_ADMIN`, as entering another
/// namespace does, and Linux 5.2.
struct NamespaceSysfs: ~Copyable {
    private let descriptor: Int32

    /// Creates a view; nil if the kernel refuses.
    init?(of namespace: NetworkNamespaceHandle) {
        descriptor = (try? namespace.run { netwatch_open_sysfs() }) ?? -1
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The directory of the interfaces.
    var interfaces: String { "/proc/self/fd/\(descriptor)/class/net" }
}
