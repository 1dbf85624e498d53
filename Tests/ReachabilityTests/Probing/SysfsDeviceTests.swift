import Glibc
import LinuxSystem
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The attributes of a device, from a directory in place of /sys/class/net.
@Suite struct SysfsDeviceTests {
    @Test func `the device's type and driver are read`() throws {
        let root = try Directory()
        try root.write("wwan0/uevent", "DEVTYPE=wwan\nINTERFACE=wwan0\nIFINDEX=3\n")
        try root.makeDirectory("wwan0/device")
        try root.link("wwan0/device/driver", to: "../../bus/usb/drivers/qmi_wwan")
        let device = try #require(SysfsDevice(3, name: "wwan0", address: nil, root: root.path))
        #expect(device.deviceType == "wwan")
        #expect(device.driver == "qmi_wwan")
    }

    @Test func `plain Ethernet has neither`() throws {
        let root = try Directory()
        try root.write("eth0/uevent", "INTERFACE=eth0\nIFINDEX=2\n")
        let device = try #require(SysfsDevice(2, name: "eth0", address: nil, root: root.path))
        #expect(device.deviceType == nil)
        #expect(device.driver == nil)
    }

    @Test func `another namespace's interface of the same name is ignored`() throws {
        let root = try Directory()
        try root.write("eth0/uevent", "DEVTYPE=wwan\nINTERFACE=eth0\nIFINDEX=4\n")
        #expect(SysfsDevice(2, name: "eth0", address: nil, root: root.path) == nil)
    }

    @Test func `an interface of the same name and index is ignored if its hardware address differs`() throws {
        let root = try Directory()
        try root.write("eth0/uevent", "DEVTYPE=wwan\nINTERFACE=eth0\nIFINDEX=2\n")
        try root.write("eth0/address", "02:00:00:00:00:1f\n")
        #expect(SysfsDevice(2, name: "eth0", address: [2, 0, 0, 0, 0, 0x1E], root: root.path) == nil)
        #expect(SysfsDevice(2, name: "eth0", address: [2, 0, 0, 0, 0, 0x1F], root: root.path) != nil)
    }

    @Test(arguments: ["phy80211", "wireless"]) func `an 802.11 driver needs no device type`(sign: String) throws {
        let root = try Directory()
        try root.write("wlan0/uevent", "INTERFACE=wlan0\nIFINDEX=2\n")
        try root.makeDirectory("wlan0/\(sign)")
        #expect(SysfsDevice(2, name: "wlan0", address: nil, root: root.path)?.deviceType == "wlan")
    }

    @Test(arguments: ["", ".", "..", "../secret", "a/b", "gone"]) func `no invalid name is read`(name: String) throws {
        let root = try Directory()
        #expect(SysfsDevice(2, name: name, address: nil, root: root.path) == nil)
    }

    @Test func `a private mount of sysfs shows the thread's network namespace`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("only-there", index: 4711, address: "192.0.2.2/24")
        let outcome = Box<Outcome>()
        let thread = TestThread()
        thread.run {
            // A separate mount namespace of the thread, in which it may mount.
            guard Self.enterMountNamespace(), (try? NetworkNamespace.path(lab.path).enter()) != nil else { return }
            guard let view = NamespaceSysfs(of: .current) else {
                outcome.value = .refused(errno)
                return
            }
            let device = SysfsDevice(4711, name: "only-there", address: nil, root: view.interfaces)
            outcome.value = .seen(device != nil, inSys: access("/sys/class/net/only-there", F_OK) == 0)
        }
        thread.end()
        #expect(outcome.value == .seen(true, inSys: false))
    }

    /// Moves the calling thread into a new mount namespace: unshare(2), which glibc declares for `_GNU_SOURCE`
    /// only.
    private static func enterMountNamespace() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let function = dlsym(nil, "unshare") else { return false }
        let mountNamespace: Int32 = 0x0002_0000
        return unsafeBitCast(function, to: Unshare.self)(mountNamespace) == 0
    }

    private enum Outcome: Equatable {
        case seen(Bool, inSys: Bool)
        case refused(Int32)
    }

    /// A directory that is removed with the value.
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
            let directory = String(name.prefix { $0 != "/" })
            if !entries.contains(directory) { try makeDirectory(directory) }
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
