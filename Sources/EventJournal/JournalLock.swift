import DurableStore
import Glibc
import LinuxSystem
import ReachabilityCore

/// The lock by which one service at a time uses the folder of a journal (flock(2)).
///
/// The kernel releases it when the process ends, however it ends. Reading the journal's files needs no lock.
package final class JournalLock: Sendable {
    /// The name of the lock's file, which only its owner can open: no other user can hold the lock.
    private static let fileName = "service.lock"

    /// Nil if the folder can't be locked.
    private let lock: FileLock?
    /// The failure after which another process may have the folder at the same time, with the path of the lock's file;
    /// nil if this one has the lock, or there can be none.
    package let problem: String?

    /// Takes the lock of a folder, which is created if it is missing.
    ///
    /// Where there can be no lock, for example on a read-only file system, this succeeds without one: the journal itself
    /// reports a folder that it can't use.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - timeout: How long to wait for a service that is about to end: it keeps the lock until its webhooks have ended,
    ///     which takes up to 5 s, and its journal is closed.
    /// - Throws: ``JournalInUse`` if another service has the lock.
    package init(of folder: String, timeout: Duration = .seconds(8)) throws(JournalInUse) {
        mkdir(folder, 0o700)
        do throws(StoreError) {
            lock = try FileLock(at: "\(folder)/\(Self.fileName)")
            problem = nil
        } catch {
            lock = nil
            // Of a folder that can't be written, and of a full disk, the journal itself reports that.
            problem = access(folder, W_OK) == 0 && error.code != .full ? "\(error.path): \(error.reason)" : nil
        }
        let deadline = SystemClock.now.advanced(by: timeout)
        while let lock, (try? lock.tryLock()) == false {
            guard SystemClock.now < deadline else { throw JournalInUse() }
            usleep(20_000)
        }
    }
}

/// The error that another service uses the folder of a journal.
package struct JournalInUse: Error, Hashable {}
