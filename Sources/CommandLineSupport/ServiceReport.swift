package import Glibc
package import LinuxSystem
import NetwatchCore
package import ReachabilityCore
import Synchronization

/// Reports to the service manager, if one started the tool: readiness after the first status, then each status.
package final class ServiceReport: Sendable {
    private let manager: ServiceManager?
    private let first = FirstState()
    private let isReady = Atomic(false)
    private let hasFailed = Atomic(false)

    /// Connects to the service manager if the environment names its socket.
    ///
    /// A manager that cannot be notified is reported once on stderr, and the watch continues.
    package init(_ invitation: ServiceManager.Invitation?) {
        do throws(SystemError) {
            manager = try invitation.map { (invitation) throws(SystemError) in
                try .init(socket: invitation.socket, watchdogInterval: invitation.watchdogInterval)
            }
        } catch {
            manager = nil
            note(error)
        }
    }

    /// When the next keep-alive is due; nil if the manager has no watchdog.
    ///
    /// Half of its time, as sd_watchdog_enabled(3) advises.
    package func nextKeepAlive(after now: Instant) -> Instant? {
        manager?.watchdogInterval.map { now.advanced(by: $0 / 2) }
    }

    /// Takes a change that has been printed; on the event thread.
    ///
    /// That nothing can be known yet is no first state, but that netlink cannot be read is: it stays so.
    package func tell(_ change: ReachabilityChange) {
        guard manager != nil else { return }
        let status = "STATUS=\(Self.words(for: change))"
        let isFirst = first.take(change) && !isReady.exchange(true, ordering: .relaxed)
        send(isFirst ? ["READY=1", status] : [status])
    }

    /// Reports that the tool is alive; on the event thread, so that a hanging event thread is detected.
    package func sendKeepAlive() { send(["WATCHDOG=1"]) }

    /// Reports that the tool is stopping.
    package func end() { send(["STOPPING=1"]) }

    /// Returns the text that `systemctl status` shows.
    private static func words(for change: ReachabilityChange) -> String {
        let name = change.path.interface.map { " through \($0.name.escapedForTerminal)" } ?? ""
        return change.status.name + name
    }

    private func send(_ assignments: [String]) {
        do throws(SystemError) { try manager?.tell(assignments) } catch { note(error) }
    }

    /// Reports the first failure on stderr, if that can be written.
    private func note(_ error: SystemError) {
        guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
        StandardError.note("the service manager that NOTIFY_SOCKET names can't be told: \(error)")
    }
}

/// The service manager that started the tool, with its socket and watchdog (sd_notify(3)).
///
/// Each message is one datagram to the socket that `NOTIFY_SOCKET` names.
package final class ServiceManager: Sendable {
    /// The interval of keep-alives; nil if there is no watchdog (sd_watchdog_enabled(3)).
    package let watchdogInterval: Duration?
    private let address: SocketAddress
    private let descriptor: Int32

    /// Connects to the manager that an environment names.
    ///
    /// - Parameters:
    ///   - socket: The value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    ///   - watchdogInterval: The interval of keep-alives.
    /// - Throws: `EAFNOSUPPORT` for another kind of socket, `ENAMETOOLONG`, or the kernel's errno.
    package init(socket: String, watchdogInterval: Duration? = nil) throws(SystemError) {
        address = try SocketAddress(socket)
        self.watchdogInterval = watchdogInterval
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = try retryingOnInterrupt { Glibc.socket(AF_UNIX, type, 0) }
        // A manager that reads nothing must not hold up the thread that listens to the kernel.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends assignments such as `READY=1` to the manager; from any thread.
    package func tell(_ assignments: [String]) throws(SystemError) {
        let message = Array(assignments.joined(separator: "\n").utf8)
        _ = try retryingOnInterrupt {
            address.withPointer { pointer, length in
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}

extension ServiceManager {
    /// The address of a Unix socket as the manager writes it (unix(7)).
    package struct SocketAddress {
        private let bytes: [UInt8]

        package init(_ text: String) throws(SystemError) {
            guard text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1 else {
                throw .init(code: EAFNOSUPPORT)
            }
            bytes = Array(text.utf8)
            guard bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
                throw .init(code: ENAMETOOLONG)
            }
        }

        /// The kernel's form; an abstract name begins with a zero, and no zero ends it.
        package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { path in
                path.copyBytes(from: bytes)
                if bytes.first == UInt8(ascii: "@") { path[0] = 0 }
            }
            let length = (MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0) + bytes.count
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
            }
        }
    }
}

extension ServiceManager {
    /// The service manager as the environment describes it.
    package struct Invitation: Hashable, Sendable {
        /// The value of `NOTIFY_SOCKET`.
        package let socket: String
        /// The interval of keep-alives; nil if there is no watchdog.
        package let watchdogInterval: Duration?

        /// Reads it out of variables; nil if there is no manager.
        ///
        /// - Parameters:
        ///   - process: This process, which `WATCHDOG_PID` may name or not.
        ///   - value: Gives a variable's value, or nil.
        package init?(process: pid_t, value: (String) -> String?) {
            guard let socket = value("NOTIFY_SOCKET"), !socket.isEmpty else { return nil }
            self.socket = socket
            let chosen = value("WATCHDOG_PID")
            let isMeant = chosen == nil || chosen.flatMap(pid_t.init) == process
            let microseconds = value("WATCHDOG_USEC").flatMap(Int64.init) ?? 0
            watchdogInterval = isMeant && microseconds > 0 ? .microseconds(min(microseconds, 86_400_000_000)) : nil
        }

        /// Removes it from this process's environment: the tool's own child processes are not the service.
        ///
        /// To be called before there is a second thread (environ(7)).
        package static func take() -> Self? {
            let invitation = Self(process: getpid()) { name in getenv(name).map { String(cString: $0) } }
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
            return invitation
        }
    }
}
