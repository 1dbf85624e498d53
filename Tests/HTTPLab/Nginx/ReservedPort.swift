import Glibc
import NetworkLab

/// A free port of 127.0.0.1 that no other program gets while this object exists (socket(7)).
///
/// Another socket can still listen on it with the same option: nginx sets SO_REUSEPORT for `reuseport`, most
/// other servers set SO_REUSEADDR.
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
