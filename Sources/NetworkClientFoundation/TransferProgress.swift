public import Foundation
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
/// Unchecked, because only that task changes its counts.
private struct FollowedProgress: @unchecked Sendable {
    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    /// Sets the counts.
    func update(_ count: (Int64, of: Int64?)) {
        progress.totalUnitCount = count.of ?? -1
        progress.completedUnitCount = count.0
    }

    /// Completes the progress; an empty body counts as one byte, since a parent expects one unit at least.
    func complete() {
        progress.totalUnitCount = max(1, progress.completedUnitCount)
        progress.completedUnitCount = progress.totalUnitCount
    }
}
