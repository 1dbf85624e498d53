import Glibc

@testable import Reachability

/// Two connected datagram sockets, one with a filter: the kernel itself runs the program on a test's bytes.
final class FilterBench {
    private let ends: (Int32, Int32)

    init(_ filter: SocketFilter) throws {
        var pair: [Int32] = [0, 0]
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw NetlinkError("socketpair", errno: errno) }
        ends = (pair[0], pair[1])
        try filter.attach(to: ends.1)
    }

    deinit {
        close(ends.0)
        close(ends.1)
    }

    /// Whether the filter passes a message.
    func passes(_ message: [UInt8]) -> Bool {
        _ = send(ends.0, message, message.count, 0)
        var byte: UInt8 = 0
        return recv(ends.1, &byte, 1, Int32(MSG_DONTWAIT)) > 0
    }
}
