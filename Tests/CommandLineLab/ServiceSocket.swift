import Glibc
import NetworkLab

/// The socket of a service manager: a datagram socket, at a path or an abstract name.
package final class ServiceSocket {
    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32

    /// Opens it; an abstract name belongs to the namespace that the calling thread is in.
    ///
    /// - Parameter name: A path, or `@` and an abstract name.
    /// - Throws: The errno if it cannot be opened.
    package init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: Array(name.utf8))
            if name.hasPrefix("@") { path[0] = 0 }
        }
        let length = socklen_t(2 + name.utf8.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw LabError("bind \(name)", errno: errno) }
    }

    deinit {
        close(descriptor)
        if name.hasPrefix("/") { unlink(name) }
    }

    /// Receives the first message that is no keep-alive: on a busy machine, some are due before the first state.
    package func first() throws -> [String] {
        var message = try next()
        while message == ["WATCHDOG=1"] { message = try next() }
        return message
    }

    /// The next message's lines.
    package func next() throws -> [String] {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = poll(&request, 1, 120_000)
            if ready > 0 { break }
            guard ready < 0, errno == EINTR else { throw LabError("wait for a message at \(name)", errno: ETIMEDOUT) }
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw LabError("recv", errno: errno) }
        return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
