import Glibc
import NetworkLab

/// A free port of 127.0.0.1 that no other program is given while this lives (SO_REUSEPORT, socket(7)).
///
/// Another socket of the same user may still listen there if it says the same: nginx with `reuseport`.
final class ReservedPort: Sendable {
    let number: UInt16
    private let descriptor: OwnedDescriptor

    init() throws(LabError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
        try setOption(descriptor.number, level: SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT")
        try systemCall("bind to a free port") {
            withSocketAddress(ServerAddress.loopback.bytes(port: 0)) { bind(descriptor.number, $0, $1) }
        }
        self.descriptor = descriptor
        number = try localPort(of: descriptor)
    }
}
