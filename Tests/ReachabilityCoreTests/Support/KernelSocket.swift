import Glibc
import NetworkLab
import ReachabilityCore

/// A netlink socket that sends the project's own requests and returns the kernel's bytes.
final class KernelSocket {
    private let descriptor: Int32

    /// Opens a socket in a namespace; `strict` sets `NETLINK_GET_STRICT_CHK`.
    init(in lab: LabNamespace, strict: Bool = true) throws {
        descriptor = try lab.run { socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) }
        guard descriptor >= 0 else { throw KernelSocketError(errno: errno) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var isStrict: Int32 = strict ? 1 : 0
        let result = setsockopt(descriptor, 270, 12, &isStrict, socklen_t(MemoryLayout<Int32>.size))
        guard result == 0 else { throw KernelSocketError(errno: errno) }
    }

    deinit { close(descriptor) }

    /// Sends a request and returns the reply's datagrams: of a dump up to its end, otherwise the first.
    func replies(to request: [UInt8]) throws -> [[UInt8]] {
        guard send(descriptor, request, request.count, 0) == request.count else {
            throw KernelSocketError(errno: errno)
        }
        let isDump = NetlinkFlags(rawValue: UInt16(request[6]) | UInt16(request[7]) << 8).isSuperset(of: .dump)
        var datagrams: [[UInt8]] = []
        while true {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw KernelSocketError(errno: errno) }
            datagrams.append(Array(buffer.prefix(count)))
            let events = try decoded(datagrams[datagrams.count - 1]).map(\.event)
            guard isDump, !events.contains(where: \.endsDump) else { return datagrams }
        }
    }

    /// The kernel's replies, without the one that ends a dump.
    func events(for request: [UInt8]) throws -> [KernelEvent] {
        try replies(to: request).flatMap { try decoded($0).map(\.event) }.filter { $0 != .done(errno: 0) }
    }

    /// One of the kernel's tables.
    func dump(_ subject: DumpSubject) throws -> [KernelEvent] {
        try events(for: NetlinkRequests.dump(subject, sequence: 77))
    }
}

/// The error of a system call.
struct KernelSocketError: Error {
    var errno: Int32
}

extension KernelEvent {
    /// Whether a dump has ended.
    fileprivate var endsDump: Bool {
        switch self {
        case .done, .error: true
        default: false
        }
    }
}
