import CommandLineSupport
import Glibc
import LinuxSystem
import ReachabilityCore

/// Detects the end of the process that started this one: its end of stdout or stdin is closed then.
///
/// Stdin counts if it is a pipe or a socket. A terminal, a file and `/dev/null` say nothing about a parent.
struct ReaderWatch {
    /// A further condition that ends a wait.
    let wakeup: Wakeup
    private let watchesInput: Bool

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - wakeup: What else ends a wait.
    ///   - isBrief: Whether the process ends soon by itself, so that stdin does not matter.
    init(wakeup: Wakeup, isBrief: Bool) {
        self.wakeup = wakeup
        var status = stat()
        let kind = fstat(STDIN_FILENO, &status) == 0 ? status.st_mode & S_IFMT : 0
        watchesInput = !isBrief && (kind == S_IFIFO || kind == S_IFSOCK)
    }

    /// Waits for the wakeup, or the deadline.
    ///
    /// - Parameter deadline: When to return in any case; nil for never.
    /// - Returns: False if a reader is gone.
    /// - Throws: The error to show if the kernel refuses to wait.
    func wait(until deadline: Instant? = nil) throws(ToolError) -> Bool {
        var descriptors = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            // Of stdout only errors and hang-ups are reported, which need no request.
            pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            pollfd(fd: watchesInput ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        ]
        do throws(SystemError) {
            _ = try retryingOnInterrupt { poll(&descriptors, nfds_t(descriptors.count), deadline?.pollTimeout ?? -1) }
        } catch {
            throw error.toolError("wait for events")
        }
        if descriptors[0].revents != 0 { wakeup.clear() }
        return descriptors[1].revents == 0 && (descriptors[2].revents == 0 || hasInput)
    }

    /// Reads what was written to stdin, which means nothing; false at its end.
    private var hasInput: Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
    }
}
