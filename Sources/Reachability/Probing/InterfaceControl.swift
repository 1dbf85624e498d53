import CNetlink
import Glibc
import ReachabilityCore

/// Asks the kernel about an interface by ioctl(2), on any socket of the interface's network namespace (netdevice(7)).
///
/// Interfaces go by name there, and names change: what is asked counts only if the name means the same number before
/// and after. The kernel may wait for its configuration lock, so none of this belongs on the event thread.
struct InterfaceControl {
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

    /// Why there is no answer.
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
