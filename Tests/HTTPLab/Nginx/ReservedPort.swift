import Glibc
import NetworkLab

/// A free port of 127.0.0.1 that no other program is given while this lives (socket(7)).
///
/// Another socket may still listen there if it says the same option: nginx with `reuseport` says SO_REUSEPORT, most
/// other servers say SO_REUSEADDR.
final class ReservedPort: Sendable {
    let number: UInt16
    private let descriptor: OwnedDescriptor

    init(sharedBy option: Int32 = SO_REUSEPORT) throws(LabError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
        try setOption(descriptor.number, level: SOL_SOCKET, option, 1, "SO_REUSE")
        try systemCall("bind to a free port") {
            withSocketAddress(ServerAddress.loopback.bytes(port: 0)) { bind(descriptor.number, $0, $1) }
        }
        self.descriptor = descriptor
        number = try localPort(of: descriptor)
    }
}
