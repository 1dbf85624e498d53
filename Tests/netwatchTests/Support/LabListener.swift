import Glibc
import NetworkLab

/// A socket of a server in a namespace, which is open as long as the object.
final class LabListener {
    private let descriptor: OwnedDescriptor

    /// Listens for TCP connections at a port of any IPv4 address; the kernel accepts them.
    convenience init(stream port: UInt16) throws {
        try self.init(SOCK_STREAM, port)
        try systemCall("listen") { listen(descriptor.number, 8) }
    }

    /// Receives UDP datagrams at a port of any IPv4 address.
    convenience init(datagrams port: UInt16) throws {
        try self.init(SOCK_DGRAM, port)
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private init(_ type: __socket_type, _ port: UInt16) throws {
        descriptor = OwnedDescriptor(
            try systemCall("socket") { socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) }
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try systemCall("bind to port \(port)") {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor.number, $0, size) }
            }
        }
    }

    /// Drops the datagrams that have arrived.
    func dropPending() {
        var byte: UInt8 = 0
        while recv(descriptor.number, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 {}
    }

    /// Waits for a datagram, two minutes at most, and sends one byte back.
    func answerOne() throws {
        var sender = sockaddr()
        var size = socklen_t(MemoryLayout<sockaddr>.size)
        var byte: UInt8 = 0
        try systemCall("recvfrom") { Int32(recvfrom(descriptor.number, &byte, 1, 0, &sender, &size)) }
        try systemCall("sendto") { Int32(sendto(descriptor.number, &byte, 1, 0, &sender, size)) }
    }
}

/// Packets that are lost on purpose, by netem (tc-netem(8)), which not every kernel has.
enum Loss {
    static let isAvailable: Bool = {
        guard let lab = try? LabNamespace() else { return false }
        return (try? add(percent: 1, to: "lo", in: lab)) != nil
    }()

    static func add(percent: Int, to interface: String, in lab: LabNamespace) throws {
        let arguments = ["tc", "qdisc", "add", "dev", interface, "root", "netem", "loss", "\(percent)%"]
        let outcome = try lab.run { try LabProcess.run("/usr/bin/env", arguments) }
        guard outcome.code == 0 else { throw LabError("tc", errno: ENOENT, detail: outcome.errors) }
    }
}
