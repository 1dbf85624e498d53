import Glibc
package import LinuxSystem
import ReachabilityCore

/// A watch of a store's commits, by any process (inotify(7)).
package final class ChangeWatch: Sendable {
    private let wakeup: Wakeup
    private let thread = SystemThread()

    /// Starts a watch: each commit from now on is noticed.
    ///
    /// Where the kernel has no watch left for this user, the closure is called every second instead.
    ///
    /// - Parameters:
    ///   - files: The files of the store.
    ///   - body: Called after commits, and when a store of these files is closed, on a thread of the watch; those within a
    ///     millisecond are one call. It must open no store of these files: closing it would call it again.
    /// - Throws: The errno if there is no descriptor or thread for it.
    package init(_ files: DurableStore.Files, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let wakeup = try Wakeup()
        self.wakeup = wakeup
        // Not on the thread: what is committed until it runs would go unnoticed.
        let notifications = Notifications(of: files.commitLock)
        try thread.start("store-watch", stackSize: 128 << 10) { Self.run(notifications, wakeup, body) }
    }

    /// Ends the watch, and waits for a running call.
    package func cancel() {
        wakeup.signal()
        thread.waitForEnd()
    }

    private static func run(_ notifications: Notifications, _ wakeup: Wakeup, _ body: () -> Void) {
        var entries = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: notifications.number, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&entries, 2, notifications.isWatching ? -1 : 1_000)
            if entries[0].revents != 0 { return }
            if count < 0 { continue }
            notifications.clear()
            body()
            // A store under load has many commits in a row, of which each would wake this thread.
            if poll(&entries, 1, 1) > 0 { return }
        }
    }
}

/// The kernel's notifications of a file's changes.
private final class Notifications: Sendable {
    /// The descriptor; -1 where the kernel has none to give.
    let number: Int32
    /// Whether there are any.
    let isWatching: Bool

    init(of path: String) {
        number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        // On a full disk a commit can only open and close the file.
        let events = UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE)
        isWatching = number >= 0 && inotify_add_watch(number, path, events) >= 0
    }

    deinit { if number >= 0 { close(number) } }

    /// Takes those that are there.
    func clear() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while number >= 0, read(number, &buffer, buffer.count) > 0 {}
    }
}
