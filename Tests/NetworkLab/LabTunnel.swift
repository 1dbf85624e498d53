import Glibc
import Locking

/// A tun or tap interface that this process holds open (`Documentation/networking/tuntap.rst`).
///
/// It has its carrier while it is held open, and is removed when it is closed.
package final class LabTunnel: Sendable {
    private let descriptor: Lock<OwnedDescriptor?>

    /// `TUNSETIFF`: `_IOW('T', 202, int)`.
    private static let setInterface: UInt = 0x4004_54CA
    private static let tun: Int16 = 1
    private static let tap: Int16 = 2
    private static let noPacketInfo: Int16 = 0x1000

    /// Makes the interface in a namespace; a tap has Ethernet frames, a tun packets without a head.
    package init(_ name: String, in lab: LabNamespace, isTap: Bool = false) throws {
        let path = "/dev/net/tun"
        // The interface belongs to the namespace of the thread that opens the device.
        let device = try lab.run { try OwnedDescriptor(systemCall("open \(path)") { open(path, O_RDWR | O_CLOEXEC) }) }
        var request = ifreq()
        withUnsafeMutableBytes(of: &request) { bytes in
            bytes.copyBytes(from: name.utf8.prefix(Int(IFNAMSIZ) - 1))
            let flags = (isTap ? Self.tap : Self.tun) | Self.noPacketInfo
            bytes.storeBytes(of: flags, toByteOffset: Int(IFNAMSIZ), as: Int16.self)
        }
        try systemCall("TUNSETIFF \(name)") { ioctl(device.number, Self.setInterface, &request) }
        descriptor = Lock(device)
    }

    /// Removes the interface.
    package func close() {
        descriptor.withLock { $0 = nil }
    }
}
