import Glibc
import LinuxSystem

/// Detects that processes wait for memory, by a trigger of the kernel (PSI; Documentation/accounting/psi.rst).
final class MemoryPressure: Sendable {
    /// 150 ms in which a process waits for memory, in 2 seconds: the shortest window without privileges.
    private static let trigger = "some 150000 2000000"

    private let descriptor: Int32
    private let wakeup: Wakeup?
    /// The reason why pressure is not detected; nil if it is.
    let failure: String?

    /// Sets a trigger; a kernel older than 6.4 allows that to privileged processes only.
    convenience init(path: String = "/proc/pressure/memory") {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        var failure = descriptor < 0 ? "\(path) can't be opened: \(SystemError.last)" : nil
        if descriptor >= 0, write(descriptor, Self.trigger, Self.trigger.utf8.count + 1) < 0 {
            failure = "\(path) takes no trigger: \(SystemError.last)"
            close(descriptor)
        }
        self.init(failure == nil ? descriptor : -1, failure: failure)
    }

    /// Creates the monitor of a descriptor that reports `POLLPRI`, and closes it at the end.
    init(_ descriptor: Int32, failure: String?) {
        self.descriptor = descriptor
        let wakeup = descriptor < 0 ? nil : try? Wakeup()
        self.wakeup = wakeup
        if wakeup == nil, descriptor >= 0 { close(descriptor) }
        self.failure = failure ?? (wakeup == nil ? "there is no file descriptor left" : nil)
    }

    /// Calls a closure on a thread after each time of pressure, at most once a second, until ``stop()``.
    func start(_ body: @escaping @Sendable () -> Void) {
        guard let wakeup else { return }
        let descriptor = descriptor
        do throws(SystemError) {
            try SystemThread.detach("netwatch-memory", stackSize: 256 << 10) {
                Self.wait(descriptor, wakeup, body)
                close(descriptor)
            }
        } catch {
            close(descriptor)
        }
    }

    /// Ends the thread.
    func stop() { wakeup?.signal() }

    private static func wait(_ descriptor: Int32, _ wakeup: Wakeup, _ body: () -> Void) {
        while true {
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&entries, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, entries[1].revents == 0, entries[0].revents & Int16(POLLERR | POLLHUP) == 0 else { return }
            body()
            // The kernel reports each window once; purging more often would not help.
            var pause = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&pause, 1, 1_000) > 0 { return }
        }
    }
}
