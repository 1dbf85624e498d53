import Glibc
import ReachabilityCore
import Testing

@testable import Reachability

/// What is read of a device, from a directory that stands for /sys/class/net.
@Suite struct SysfsProberTests {
    @Test func `the device's type and driver are read`() throws {
        let root = try Directory()
        try root.write("wwan0/uevent", "DEVTYPE=wwan\nINTERFACE=wwan0\nIFINDEX=3\n")
        try root.makeDirectory("wwan0/device")
        try root.link("wwan0/device/driver", to: "../../bus/usb/drivers/qmi_wwan")
        let message = try #require(SysfsProber(root: root.path).probe(3, name: "wwan0"))
        #expect(message.deviceType == "wwan")
        #expect(message.driver == "qmi_wwan")
        #expect(message.index == 3)
        #expect(message.interface == "wwan0")
    }

    @Test func `plain Ethernet has neither`() throws {
        let root = try Directory()
        try root.write("eth0/uevent", "INTERFACE=eth0\nIFINDEX=2\n")
        let message = try #require(SysfsProber(root: root.path).probe(2, name: "eth0"))
        #expect(message.deviceType == nil)
        #expect(message.driver == nil)
    }

    @Test func `another namespace's interface of the same name is not believed`() throws {
        let root = try Directory()
        try root.write("eth0/uevent", "DEVTYPE=wwan\nINTERFACE=eth0\nIFINDEX=4\n")
        #expect(SysfsProber(root: root.path).probe(2, name: "eth0") == nil)
    }

    @Test(arguments: ["", ".", "..", "../secret", "a/b", "gone"]) func `nonsense reads nothing`(name: String) throws {
        let root = try Directory()
        #expect(SysfsProber(root: root.path).probe(2, name: name) == nil)
    }

    /// A directory that goes with the value.
    private final class Directory {
        let path: String

        init() throws {
            var template = Array("/tmp/netwatch-sysfs-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw NetlinkError("mkdtemp", errno: errno) }
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit {
            for name in entries.reversed() { remove("\(path)/\(name)") }
            remove(path)
        }

        private var entries: [String] = []

        func makeDirectory(_ name: String) throws {
            guard mkdir("\(path)/\(name)", 0o700) == 0 else { throw NetlinkError("mkdir", errno: errno) }
            entries.append(name)
        }

        func write(_ name: String, _ text: String) throws {
            try makeDirectory(String(name.prefix { $0 != "/" }))
            let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw NetlinkError("open", errno: errno) }
            defer { close(file) }
            _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            entries.append(name)
        }

        func link(_ name: String, to target: String) throws {
            guard symlink(target, "\(path)/\(name)") == 0 else { throw NetlinkError("symlink", errno: errno) }
            entries.append(name)
        }
    }
}
