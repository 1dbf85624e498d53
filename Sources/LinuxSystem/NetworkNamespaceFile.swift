import CLinux
import Glibc

/// A file that stands for a network namespace, such as `/run/netns/blue` or `/proc/1/ns/net` (network_namespaces(7)).
package struct NetworkNamespaceFile: Sendable, Hashable {
    /// The file's path.
    package let path: String

    /// Names a file.
    package init(path: String) {
        self.path = path
    }

    /// Moves the calling thread, and no other, into the namespace, unless it is there already.
    ///
    /// The corresponding C function is `setns`. Entering another namespace needs `CAP_SYS_ADMIN` in the user namespace
    /// that owns it.
    ///
    /// - Throws: The errno: of open(2) if there is no such file, `EINVAL` of setns(2) if it is no network namespace, `EPERM`
    ///   without privilege.
    package func enter() throws(SystemError) {
        let namespace = try OpenNamespace(path)
        guard !namespace.isCurrent else { return }
        try namespace.enter()
    }
}

/// A network namespace in which sockets are opened, while the calling thread stays where it is.
///
/// A new thread is in the namespace of the thread that starts it (clone(2)), and a thread that resumes a task of Swift may
/// start one for it. If that were in another namespace, unrelated tasks would later open their sockets there.
package final class NetworkNamespaceHandle: Sendable {
    /// Nil for the namespace in which the calling threads are.
    private let namespace: OpenNamespace?

    /// The stack of a thread that opens a socket, in bytes.
    private static let stackSize = 128 << 10

    private init() { namespace = nil }

    /// The calling thread's namespace.
    package static let current = NetworkNamespaceHandle()

    /// Opens a namespace, and finds out whether it may be entered.
    ///
    /// - Throws: As ``NetworkNamespaceFile/enter()`` does; or `EAGAIN` if there are too many threads.
    package init(_ file: NetworkNamespaceFile) throws(SystemError) {
        let namespace = try OpenNamespace(file.path)
        self.namespace = namespace.isCurrent ? nil : namespace
        try run {}
    }

    /// Calls a closure in the namespace: on a thread that ends with it, unless the calling thread is there.
    ///
    /// - Parameter body: Must not wait for other threads. Its errno is not the caller's.
    /// - Returns: What the closure returned.
    /// - Throws: The error number of pthread_create(3) or setns(2).
    package func run<Value>(_ body: () -> Value) throws(SystemError) -> Value {
        guard let namespace else { return body() }
        return try withoutActuallyEscaping(body) { body throws(SystemError) in
            let call = Call(body)
            let thread = SystemThread()
            try thread.start("netwatch-netns", stackSize: Self.stackSize) { call.perform(in: namespace) }
            thread.waitForEnd()
            return try call.outcome.get()
        }
    }

    /// A call on another thread.
    ///
    /// `@unchecked Sendable`: the caller waits for the end of the thread, and only then reads the outcome.
    private final class Call<Value>: @unchecked Sendable {
        private let body: () -> Value
        private(set) var outcome: Result<Value, SystemError> = .failure(.init(code: ESRCH))

        init(_ body: @escaping () -> Value) { self.body = body }

        func perform(in namespace: OpenNamespace) {
            do throws(SystemError) {
                try namespace.enter()
                outcome = .success(body())
            } catch {
                outcome = .failure(error)
            }
        }
    }
}

/// The descriptor of a network namespace's file.
private final class OpenNamespace: Sendable {
    private let descriptor: Descriptor

    /// `CLONE_NEWNET`: the kind of namespace that the file must stand for.
    private static let networkNamespace: Int32 = 0x4000_0000

    init(_ path: String) throws(SystemError) {
        // Opening a FIFO or a device must not block the thread.
        descriptor = try Descriptor("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    }

    /// Whether the calling thread is in the namespace; setns(2) would ask for privilege even then.
    var isCurrent: Bool {
        var own = stat()
        var other = stat()
        guard stat("/proc/thread-self/ns/net", &own) == 0, fstat(descriptor.number, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    /// Moves the calling thread into the namespace.
    func enter() throws(SystemError) {
        _ = try retryingOnInterrupt("setns") { setns(descriptor.number, Self.networkNamespace) }
    }
}
