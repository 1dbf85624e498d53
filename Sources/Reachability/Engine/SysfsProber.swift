import Glibc
import ReachabilityCore

/// Reads an interface's `uevent` file and its driver's name from sysfs (sysfs(5)).
///
/// /sys shows the network namespace in which it was mounted, which may be another than the watched one: what it says
/// counts only if it means the interface of the same name and number.
struct SysfsProber: InterfaceProber {
    /// Where the interfaces' directories are.
    var root = "/sys/class/net"

    func probe(_ index: InterfaceIndex, name: String) -> UeventMessage? {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        let fields = fields(of: "\(root)/\(name)/uevent")
        guard fields["INTERFACE"] == name, fields["IFINDEX"] == "\(index)" else { return nil }
        var message = UeventMessage(action: .add, interface: name, index: index, deviceType: fields["DEVTYPE"])
        message.driver = driver("\(root)/\(name)/device/driver")
        return message
    }

    /// The lines `KEY=VALUE` of a file of at most one page.
    private func fields(of path: String) -> [String: String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [:] }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        var fields: [String: String] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            fields[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
        }
        return fields
    }

    /// The last component of where a symbolic link leads (readlink(2)).
    private func driver(_ path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
            }
        }
        guard let last = target.split(separator: UInt8(ascii: "/")).last else { return nil }
        return String(decoding: last, as: UTF8.self)
    }
}
