import Locking
import NIOCore

/// The parts that this process has locked and is about to let go.
///
/// A request's end does not wait until its last bytes are written. Whoever downloads the same file right after it does, or
/// would find it locked.
enum HeldFiles {
    private static let closing = Lock<[FileIdentity: [EventLoopPromise<Void>]]>([:])

    /// A file will be let go as soon as what is under way is done.
    static func willClose(_ file: FileIdentity) { closing.withLock { $0[file] = $0[file] ?? [] } }

    /// A file was let go.
    static func didClose(_ file: FileIdentity) {
        let waiters = closing.withLock { $0.removeValue(forKey: file) ?? [] }
        for waiter in waiters { waiter.succeed() }
    }

    /// Is fulfilled when a file is let go; nil if it is not about to be.
    static func whenClosed(_ file: FileIdentity, _ loop: any EventLoop) -> EventLoopFuture<Void>? {
        let promise = loop.makePromise(of: Void.self)
        let waits = closing.withLock { files in
            guard files[file] != nil else { return false }
            files[file]?.append(promise)
            return true
        }
        guard !waits else { return promise.futureResult }
        promise.succeed()
        return nil
    }
}
