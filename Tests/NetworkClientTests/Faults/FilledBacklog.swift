import Glibc
import HTTPLab
import NIOCore
import NetworkLab

/// A connection that fills the backlog, so that the kernel accepts no other.
struct FilledBacklog {
    private let descriptor: Int32

    init(of server: ScriptedServer, in lab: LabNamespace) throws {
        let descriptor = try lab.run { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(server.port))
        let code = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        if code != 0 { throw LabError("connect", errno: errno) }
        self.descriptor = descriptor
    }

    func close() { Glibc.close(descriptor) }
}
