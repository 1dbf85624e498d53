public import Foundation
import Locking
public import NetworkClient

/// The progress of requests as objects of Foundation, in bytes.
extension RequestHandle {
    /// Creates the progress of the response's body.
    ///
    /// ```swift
    /// let whole = Progress(totalUnitCount: 2)
    /// whole.addChild(request.downloadProgress(), withPendingUnitCount: 1)
    /// ```
    ///
    /// It is indeterminate until the length is known, and complete when the request has succeeded. Cancelling, pausing
    /// and resuming it, or a parent of it, does the same to the request. It has no parent: add it to one with
    /// `addChild(_:withPendingUnitCount:)`.
    ///
    /// On Linux, `Progress` may be used by one thread at a time. The updates of all requests exclude each other; add children
    /// before the requests are started, and call a parent's methods that change it from no other thread while they run.
    ///
    /// - Returns: A progress of its own, which follows the request until it finishes.
    public final func downloadProgress() -> Progress {
        follow { (Int64($0.received), $0.toReceive.map(Int64.init)) }
    }

    /// Creates the progress of the request's body; see ``downloadProgress()``.
    ///
    /// - Returns: A progress of its own, which follows the request until it finishes.
    public final func uploadProgress() -> Progress { follow { (Int64($0.sent), $0.toSend) } }

    private final func follow(_ count: @escaping @Sendable (RequestProgress) -> (Int64, of: Int64?)) -> Progress {
        let progress = Progress(parent: nil)
        progress.totalUnitCount = -1
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.pause() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        let (followed, values) = (FollowedProgress(progress), self.progress)
        Task {
            for await value in values { followed.update(count(value)) }
            if case .success = await ending() { followed.complete() }
        }
        return progress
    }
}

/// Transfers a progress to the task that updates it.
///
/// Unchecked, because only that task changes its counts, and the lock excludes the tasks that change those of its parent.
private struct FollowedProgress: @unchecked Sendable {
    /// Held during all updates: each changes the parents too, and on Linux `Progress` has no lock of its own.
    private static let updates = Lock<Void>(())
    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    /// Sets the counts.
    func update(_ count: (Int64, of: Int64?)) {
        Self.updates.withLock { _ in
            progress.totalUnitCount = count.of ?? -1
            progress.completedUnitCount = count.0
        }
    }

    /// Completes the progress; an empty body counts as one byte, since a parent expects one unit at least.
    func complete() {
        Self.updates.withLock { _ in
            progress.totalUnitCount = max(1, progress.completedUnitCount)
            progress.completedUnitCount = progress.totalUnitCount
        }
    }
}
