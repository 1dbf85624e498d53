import DurableStore
import Glibc
import LinuxSystem
import Locking
import ReachabilityCore

/// The lock by which one service at a time uses the folder of a journal (flock(2)).
///
/// The kernel releases it when the process ends, however it ends. Reading the journal's files needs no lock.
package final class JournalLock: Sendable {
    /// The name of the lock's file, which only its owner can open: no other user can hold the lock.
    private static let fileName = "service.lock"

    private struct State {
        /// Nil until the folder can be locked.
        var lock: FileLock?
        var problem: String?
    }

    private let folder: String
    private let state = Lock(State())

    /// The failure after which another process may have the folder at the same time, with the path of the lock's file;
    /// nil if this one has the lock, or there can be none.
    package var problem: String? { state.withLock { $0.problem } }
    /// The warning about the problem, with what to do.
    package var warning: String? {
        problem.map { "\($0); remove the file, or another service can use the journal at the same time" }
    }

    /// Takes the lock of a folder, which is created if it is missing.
    ///
    /// Where there can be no lock, for example on a read-only file system, this succeeds without one: the journal itself
    /// reports a folder that it can't use. The journal tries again with ``take()``.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - timeout: How long to wait for a service that is about to end: it keeps the lock until its webhooks have ended,
    ///     which takes up to 5 s, and its journal is closed.
    /// - Throws: ``JournalInUse`` if another service has the lock.
    package init(of folder: String, timeout: Duration = .seconds(8)) throws(JournalInUse) {
        self.folder = folder
        mkdir(folder, 0o700)
        let deadline = SystemClock.now.advanced(by: timeout)
        while true {
            do throws(JournalInUse) {
                try take()
                return
            } catch {
                guard SystemClock.now < deadline else { throw error }
            }
            usleep(20_000)
        }
    }

    /// Tries once to take the lock, unless this has it.
    ///
    /// - Returns: Whether the lock was taken; false if this had it before, or there can still be none.
    /// - Throws: ``JournalInUse`` if another service has the lock.
    @discardableResult
    package func take() throws(JournalInUse) -> Bool {
        try state.withLock { (state) throws(JournalInUse) -> Bool in
            guard state.lock == nil else { return false }
            let lock: FileLock
            do throws(StoreError) { lock = try FileLock(at: "\(folder)/\(Self.fileName)") } catch {
                state.problem = reportableFailure(error)
                return false
            }
            // Some network file systems have no locks, which nobody can change.
            guard let isTaken = try? lock.tryLock() else { return false }
            guard isTaken else { throw JournalInUse() }
            (state.lock, state.problem) = (lock, nil)
            return true
        }
    }

    /// Returns the failure to report; nil for a folder that can't be written and for a full disk, which the journal itself
    /// reports.
    private func reportableFailure(_ error: StoreError) -> String? {
        access(folder, W_OK) == 0 && error.code != .full ? "\(error.path): \(error.reason)" : nil
    }
}

/// The error that another service uses the folder of a journal.
package struct JournalInUse: Error, Hashable, CustomStringConvertible {
    package var description: String { "another service uses it; end that service" }
}
