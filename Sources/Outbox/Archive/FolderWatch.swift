import Glibc
import LinuxSystem

/// A watch of a folder for files that are complete (inotify(7)).
package final class FolderWatch: Sendable {
    private let wakeup: Wakeup
    private let thread = SystemThread()

    /// Starts a watch.
    ///
    /// The closure is called every ten seconds too, since a file may arrive that can't be taken yet.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - body: Called on a thread of the watch. It is never called if there is no descriptor or thread for it.
    package init?(_ path: String, _ body: @escaping @Sendable () -> Void) {
        guard let wakeup = try? Wakeup() else { return nil }
        self.wakeup = wakeup
        let start = { (thread: SystemThread) throws(SystemError) in
            try thread.start("outbox-folder", stackSize: 128 << 10) { Self.run(path, wakeup, body) }
        }
        do throws(SystemError) { try start(thread) } catch { return nil }
    }

    /// Ends the watch, and waits for a running call.
    package func cancel() {
        wakeup.signal()
        thread.waitForEnd()
    }

    private static func run(_ path: String, _ wakeup: Wakeup, _ body: () -> Void) {
        let notifications = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        defer { if notifications >= 0 { close(notifications) } }
        if notifications >= 0 { _ = inotify_add_watch(notifications, path, UInt32(IN_CLOSE_WRITE)) }
        var entries = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: notifications, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = poll(&entries, 2, 10_000)
            if entries[0].revents != 0 { return }
            if count < 0 { continue }
            while notifications >= 0, read(notifications, &buffer, buffer.count) > 0 {}
            body()
        }
    }
}
