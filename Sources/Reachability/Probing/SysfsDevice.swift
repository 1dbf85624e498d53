import Glibc
import ReachabilityCore

/// What sysfs shows of an interface (sysfs(5), `Documentation/ABI/testing/sysfs-class-net`).
///
/// /sys shows the network namespace in which it was mounted, which may be another than the watched one: what it says
/// counts only if it means the interface of the same name, number and hardware address.
struct SysfsDevice {
    /// `DEVTYPE`, the name of the device's `device_type`.
    let deviceType: String?
    /// The driver's name, for want of ethtool.
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

    /// What is in a file of at most one page; nothing if it can't be read.
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
