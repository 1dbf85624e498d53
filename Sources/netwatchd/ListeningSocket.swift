import CommandLineSupport
import EventCore
import EventServer
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// A socket that accepts connections.
struct ListeningSocket {
    /// Its descriptor, which is closed by the server that takes it over.
    let descriptor: Int32
    /// The kind of clients.
    let access: EventServer.Access
    /// The file to remove at the end; nil for a socket that has none, or that systemd made.
    var file: SocketFile?

    /// The number of connections that wait to be accepted.
    fileprivate static let backlog: Int32 = 4096
}

/// The file of a Unix socket.
struct SocketFile {
    /// Its path.
    let path: String
    private let inode: ino_t

    /// Notes which file is at a path.
    init(_ path: String) {
        self.path = path
        inode = Self.inode(at: path)
    }

    /// Removes it, unless another process has put its own there.
    func remove() { if Self.inode(at: path) == inode { unlink(path) } }

    private static func inode(at path: String) -> ino_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : 0
    }
}

/// A Unix socket to listen on.
struct UnixSocket {
    /// The path that clients expect.
    static let usualPath = "/run/netwatch/events.sock"

    /// The path.
    let path: String

    /// Opens the socket for all users; its directory is made if only that is missing.
    ///
    /// A socket that is left over from a process which has ended is replaced.
    func open() throws(ToolError) -> ListeningSocket {
        makeDirectory()
        do throws(SystemError) {
            return try inTurn { () throws(SystemError) in
                try removeStale()
                return try bound()
            }
        } catch {
            throw failure(error)
        }
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func makeDirectory() {
        // If it fails, so does what follows, with a better error.
        mkdir(directory, 0o755)
    }

    /// Does what two processes that start at the same moment must do one after the other: until one listens, its socket
    /// looks like one that is left over.
    ///
    /// Locks the directory (flock(2)); tries for five seconds, since any user may hold the lock.
    private func inTurn<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
        let lock = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer {
            flock(lock, LOCK_UN)
            close(lock)
        }
        for _ in 0..<500 {
            guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { break }
            usleep(10_000)
        }
        return try body()
    }

    /// Removes a socket on which nobody listens.
    ///
    /// - Throws: `EADDRINUSE` if a process listens on it; `EEXIST` for a file that is no socket.
    private func removeStale() throws(SystemError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .init(code: EEXIST) }
        guard try !isLive() else { throw .init(code: EADDRINUSE) }
        unlink(path)
    }

    private func isLive() throws(SystemError) -> Bool {
        let address = try ServiceManager.SocketAddress(path)
        let probe = try Descriptor("socket") { socket(AF_UNIX, streamType | Int32(SOCK_NONBLOCK.rawValue), 0) }
        let result = address.withPointer { pointer, length in connect(probe.number, pointer, length) }
        // A full queue of connections belongs to a process too, and so does a socket of another type. A process that stops may
        // have removed the file meanwhile.
        return result == 0 || errno != ECONNREFUSED && errno != ENOENT
    }

    private func bound() throws(SystemError) -> ListeningSocket {
        let address = try ServiceManager.SocketAddress(path)
        let descriptor = try retryingOnInterrupt { socket(AF_UNIX, streamType, 0) }
        do throws(SystemError) {
            _ = try retryingOnInterrupt { address.withPointer { bind(descriptor, $0, $1) } }
            _ = try retryingOnInterrupt { chmod(path, 0o666) }
            _ = try retryingOnInterrupt { Glibc.listen(descriptor, ListeningSocket.backlog) }
        } catch {
            close(descriptor)
            throw error
        }
        return .init(descriptor: descriptor, access: .unix, file: SocketFile(path))
    }

    private func failure(_ error: SystemError) -> ToolError {
        let name = path.escapedForTerminal
        switch error.code {
        case EADDRINUSE:
            return .init(
                "another process serves events on '\(name)'; end it, or choose another --socket",
                exit: .systemFailure
            )
        case EEXIST:
            return .init(
                "'\(name)' exists and is no socket; remove it, or choose another --socket",
                exit: .systemFailure
            )
        case EACCES, EPERM, EROFS:
            return .init(
                "may not make the socket '\(name)': \(error); run as root, or choose another --socket",
                exit: .notPermitted
            )
        default:
            return .init("cannot listen on '\(name)': \(error); choose another --socket", exit: .systemFailure)
        }
    }
}

extension LoopbackAddress {
    /// Opens the socket.
    func open(origins: [String]) throws(ToolError) -> ListeningSocket {
        do throws(SystemError) {
            let descriptor = try listeningSocket(backlog: ListeningSocket.backlog)
            return .init(descriptor: descriptor, access: .loopback(.init(port: port, origins: origins)))
        } catch {
            // SocketBindDeny= of the service's unit.
            let other = "under systemd, add ListenStream=127.0.0.1:\(port) to netwatchd.socket instead"
            throw failure(error, unlessPermitted: other)
        }
    }
}

/// The sockets that systemd passes to a service (sd_listen_fds(3)).
enum PassedSockets {
    /// The first descriptor (`SD_LISTEN_FDS_START`).
    private static let first: Int32 = 3

    /// Takes the sockets over, and removes the variables that name them; none if there are none.
    ///
    /// To be called before there is a second thread (environ(7)).
    static func take(origins: [String]) throws(ToolError) -> [ListeningSocket] {
        let count = count(process: getpid()) { name in getenv(name).map { String(cString: $0) } }
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        var sockets: [ListeningSocket] = []
        for descriptor in first..<(first + count) { sockets.append(try socket(descriptor, origins)) }
        return sockets
    }

    /// Returns the number of sockets that variables announce to a process.
    static func count(process: pid_t, value: (String) -> String?) -> Int32 {
        guard value("LISTEN_PID").flatMap(pid_t.init) == process else { return 0 }
        return min(max(value("LISTEN_FDS").flatMap(Int32.init) ?? 0, 0), 1024)
    }

    private static func socket(_ descriptor: Int32, _ origins: [String]) throws(ToolError) -> ListeningSocket {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard result == 0, isListening(descriptor), let access = access(address, origins) else {
            let rule = "only listening stream sockets, Unix or loopback, are served (ListenStream=, without Accept=yes)"
            throw .init(
                "the socket that systemd passes as descriptor \(descriptor) cannot be used; \(rule)",
                exit: .usage
            )
        }
        return .init(descriptor: descriptor, access: access)
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var (accepts, type): (Int32, Int32) = (0, 0)
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length)
        getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length)
        return accepts == 1 && type == Int32(SOCK_STREAM.rawValue)
    }

    /// The kind of clients at an address; nil if others than this machine's own could connect.
    private static func access(_ address: sockaddr_storage, _ origins: [String]) -> EventServer.Access? {
        withUnsafeBytes(of: address) { bytes in
            // In network byte order, behind the family.
            let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
            let rules = AccessRules(port: port, origins: origins)
            switch Int32(address.ss_family) {
            case AF_UNIX: return .unix
            case AF_INET where bytes[4] == 127: return .loopback(rules)
            case AF_INET6 where bytes[8..<23].allSatisfy({ $0 == 0 }) && bytes[23] == 1: return .loopback(rules)
            default: return nil
            }
        }
    }
}

private let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
