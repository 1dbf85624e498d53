import Glibc
import NetworkLab

/// The socket of a service manager: a datagram socket, at a path or an abstract name.
///
/// Its messages are received as they come, as a full socket would discard some.
package final class ServiceSocket {
    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let messages = LabInbox<[String]>()
    private var taken = 0

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
        guard result == 0 else {
            let error = LabError("bind \(name)", errno: errno)
            close(descriptor)
            throw error
        }
        _ = try LabThread { [descriptor, messages] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                // After shutdown(2).
                guard count > 0 else { break }
                let text = String(decoding: buffer.prefix(count), as: UTF8.self)
                messages.put(text.split(separator: "\n").map(String.init))
            }
            close(descriptor)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
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
        let next = taken
        let all = try messages.wait(for: "a message at \(name)", within: .seconds(120)) { $0.count > next }
        taken += 1
        return all[next]
    }
}
