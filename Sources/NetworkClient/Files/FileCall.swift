import Dispatch
import Glibc
import LinuxSystem
import Locking

/// System calls on files, which throw errors for the user.
enum FileCall {
    /// Makes a system call, and repeats it while a signal interrupts it.
    ///
    /// - Parameters:
    ///   - what: The action that fails with the call, such as `write`.
    ///   - path: The file, for the error.
    ///   - call: The call, which returns -1 if it fails (errno(3)).
    /// - Returns: The return value of the call.
    /// - Throws: `fileFailed` with the errno.
    @discardableResult
    static func make<Value: SignedInteger>(
        _ what: String,
        _ path: String,
        _ call: () -> Value
    ) throws(HTTPError) -> Value {
        while true {
            let value = call()
            if value != -1 { return value }
            let number = errno
            guard number == EINTR else { throw failure(what, path, errno: number) }
        }
    }

    /// Writes all bytes to a descriptor (write(2)).
    static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(HTTPError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try make("write", path) {
                rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// stat(2), or lstat(2); nil if there is no such file.
    static func status(_ path: String, followsLink: Bool = true) throws(HTTPError) -> stat? {
        var status = stat()
        let code = followsLink ? stat(path, &status) : lstat(path, &status)
        guard code != 0 else { return status }
        guard errno == ENOENT else { throw failure("look at", path, errno: errno) }
        return nil
    }

    /// fstat(2).
    static func status(of descriptor: Int32, _ path: String) throws(HTTPError) -> stat {
        var status = stat()
        try make("look at", path) { fstat(descriptor, &status) }
        return status
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
    /// Whether this process's effective user owns it.
    var isOwn: Bool { st_uid == geteuid() }
}

extension FileCall {
    /// Returns the error for a failed operation on a file.
    static func failure(_ what: String, _ path: String, errno number: Int32, _ advice: String? = nil) -> HTTPError {
        let advice = advice ?? Self.advice(number)
        return .init(
            .fileFailed,
            processing: .neverSent,
            reason: "can't \(what) \(path): \(HTTPError.describe(number)): \(advice)",
            errno: number
        )
    }

    /// Returns the usual remedy for an error number.
    private static func advice(_ number: Int32) -> String {
        switch number {
        case ENOSPC, EDQUOT: "make room, and try again"
        case EFBIG: "the file system or a limit (ulimit -f) does not allow files that large"
        case EACCES, EPERM, EROFS: "name a file in a folder that this user can write"
        case ENOENT, ENOTDIR: "make the folder first"
        case EISDIR: "name a file in it"
        case ELOOP: "remove the symbolic link, or name another file"
        case ENAMETOOLONG: "name a shorter file: its part has a few characters more"
        case EMFILE, ENFILE: "close some files, or raise the limit (ulimit -n)"
        case EEXIST: "remove it, name another file, or let it be replaced"
        case EPIPE: "nobody reads it any more"
        default: "name another file"
        }
    }
}

/// A thread for work that may block indefinitely; jobs run in the order in which they were added.
///
/// Nothing waits for the thread: once this object is released, it finishes its jobs and ends.
final class BlockingThread: Sendable {
    private let queue = Queue()

    /// The thread's stack, in bytes.
    private static let stackSize = 1 << 20

    /// Starts the thread; nil if the system can't create one.
    init?() {
        do throws(SystemError) {
            try SystemThread.detach("netwatch-file", stackSize: Self.stackSize) { [queue] in
                while let jobs = queue.next() { for job in jobs { job() } }
            }
        } catch {
            return nil
        }
    }

    deinit { queue.end() }

    /// Adds a job.
    func perform(_ job: @escaping @Sendable () -> Void) { queue.add(job) }

    private final class Queue: Sendable {
        private struct State {
            var jobs: [@Sendable () -> Void] = []
            var isEnding = false
        }

        private let state = Lock(State())
        private let available = DispatchSemaphore(value: 0)

        func add(_ job: @escaping @Sendable () -> Void) {
            state.withLock { $0.jobs.append(job) }
            available.signal()
        }

        func end() {
            state.withLock { $0.isEnding = true }
            available.signal()
        }

        /// Waits for jobs; nil at the end.
        func next() -> [@Sendable () -> Void]? {
            while true {
                available.wait()
                let (jobs, isEnding) = state.withLock { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isEnding)
                }
                if !jobs.isEmpty { return jobs }
                if isEnding { return nil }
            }
        }
    }
}
