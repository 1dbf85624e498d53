import Locking

/// Keeps a closure subscribed; ends when it is cancelled or released.
///
/// ```swift
/// final class Uploader {
///     private var subscription: Subscription?
///
///     func start(_ monitor: ReachabilityMonitor) {
///         subscription = monitor.subscribe { [weak self] change in
///             if change.status.isReachable { self?.resume() }
///         }
///     }
/// }
/// ```
///
/// A subscription keeps its monitor alive and running. A closure that captures its own subscription keeps both alive
/// until ``cancel()``.
///
/// **Isolation**: may be cancelled and released on any thread, from inside its own closure too.
public final class Subscription: Sendable {
    private let body: Lock<(@Sendable () -> Void)?>

    /// Creates a subscription.
    ///
    /// - Parameter body: Ends it; called once, and released with all it holds.
    init(_ body: @escaping @Sendable () -> Void) { self.body = .init(body) }

    deinit { cancel() }

    /// Ends the subscription; does nothing if it ended already.
    ///
    /// On the thread that calls this, the closure is not called any more. A call that another thread is making is not
    /// waited for. What the closure captured is released by its last user.
    public func cancel() {
        let body = body.withLock { $0.take() }
        body?()
    }
}
