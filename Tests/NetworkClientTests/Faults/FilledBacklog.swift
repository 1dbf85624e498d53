import Glibc
import HTTPLab
import NetworkLab

/// A connection that takes the only place there is, so that the kernel answers no other.
struct FilledBacklog {
    private let descriptor: Int32

    init(of server: ScriptedServer, in lab: LabNamespace) throws {
        let descriptor = try lab.run { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if code != 0 { throw LabError("connect", errno: errno) }
        self.descriptor = descriptor
    }

    func close() { Glibc.close(descriptor) }
}
