import Glibc
package import LinuxSystem
import ReachabilityCore

/// A watch of a store's commits, by any process (inotify(7)).
package final class ChangeWatch: Sendable {
    private let wakeup: Wakeup
    private let thread = SystemThread()

    /// Starts a watch.
    ///
    /// Where the kernel has no watch left for this user, the closure is called every second instead.
    ///
    /// - Parameters:
    ///   - files: The files of the store.
    ///   - body: Called after commits, on a thread of the watch; those within a millisecond are one call.
    /// - Throws: The errno if there is no descriptor or thread for it.
    package init(_ files: DurableStore.Files, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let wakeup = try Wakeup()
        self.wakeup = wakeup
        let path = files.commitLock
        try thread.start("store-watch", stackSize: 128 << 10) { Self.run(path, wakeup, body) }
    }

    /// Ends the watch, and waits for a running call.
    package func cancel() {
        wakeup.signal()
        thread.waitForEnd()
    }

    private static func run(_ path: String, _ wakeup: Wakeup, _ body: () -> Void) {
        let notifications = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        defer { if notifications >= 0 { close(notifications) } }
        let isWatching = notifications >= 0 && inotify_add_watch(notifications, path, UInt32(IN_MODIFY)) >= 0
        var entries = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isWatching ? notifications : -1, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = poll(&entries, 2, isWatching ? -1 : 1_000)
            if entries[0].revents != 0 { return }
            if count < 0 { continue }
            if isWatching { while read(notifications, &buffer, buffer.count) > 0 {} }
            body()
            // A store under load has many commits in a row, of which each would wake this thread.
            if poll(&entries, 1, 1) > 0 { return }
        }
    }
}
