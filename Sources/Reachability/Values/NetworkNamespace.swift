import Glibc
import LinuxSystem

/// The network namespace that a monitor watches (network_namespaces(7)).
///
/// Every namespace but ``current`` is entered with setns(2), which needs `CAP_SYS_ADMIN` in the user namespace that owns
/// it: by short-lived threads, which open the monitor's sockets. No closure and no task of the program runs on them. The
/// privilege is needed for as long as the monitor runs, as it opens sockets again after messages were lost.
public enum NetworkNamespace: Sendable, Hashable {
    /// That of the thread that starts the monitor.
    case current
    /// A namespace that `ip netns add` named: `/run/netns/NAME`.
    case name(String)
    /// A file that stands for a namespace, such as `/proc/1/ns/net` or a bind mount of it.
    case path(String)
    /// The namespace of a process.
    case process(Int32)

    /// Parses the text that a user typed: a number is a process, a text with a slash a path, anything else a name.
    ///
    /// Nil if the text is empty, or a name that no file can have.
    ///
    /// - Parameter text: `1234`, `/run/netns/blue` or `blue`.
    public init?(_ text: String) {
        guard !text.isEmpty, text != ".", text != "..", !text.utf8.contains(0) else { return nil }
        if let process = Int32(text), process > 0 {
            self = .process(process)
        } else {
            self = text.contains("/") ? .path(text) : .name(text)
        }
    }

    /// The file to open, or nil for the namespace that the thread is in already.
    public var file: String? {
        switch self {
        case .current: nil
        case .name(let name): "/run/netns/\(name)"
        case .path(let path): path
        case .process(let process): "/proc/\(process)/ns/net"
        }
    }

    /// Moves the calling thread, and no other, into the namespace.
    ///
    /// - Throws: ``ReachabilityError`` that says whether there is no such file, it is no namespace, or it may not be entered.
    func enter() throws(ReachabilityError) {
        guard let file else { return }
        do throws(SystemError) {
            try NetworkNamespaceFile(path: file).enter()
        } catch {
            throw Self.error(error.code, file)
        }
    }

    /// Opens the namespace, without moving the calling thread.
    ///
    /// - Returns: What sockets in it are opened with.
    /// - Throws: As ``enter()`` does.
    func open() throws(ReachabilityError) -> NetworkNamespaceHandle {
        guard let file else { return .current }
        do throws(SystemError) {
            return try NetworkNamespaceHandle(NetworkNamespaceFile(path: file))
        } catch {
            throw Self.error(error.code, file)
        }
    }

    private static func error(_ errno: Int32, _ file: String) -> ReachabilityError {
        switch errno {
        case ENOENT, ENOTDIR, ESRCH, ENAMETOOLONG, ELOOP, ENXIO: .init(.namespaceNotFound, errno: errno, file)
        case EINVAL, EISDIR, ENOTTY: .init(.notANamespace, errno: errno, file)
        case EPERM, EACCES: .init(.namespaceNotPermitted, errno: errno, file)
        default: .init(.noResources, errno: errno, file)
        }
    }
}
