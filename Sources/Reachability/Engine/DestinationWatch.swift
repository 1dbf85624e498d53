import Locking

/// Keeps a destination watched; ends when cancelled or released.
public final class DestinationWatch: Sendable {
    private let onCancel: Lock<(@Sendable () -> Void)?>

    init(_ onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = .init(onCancel)
    }

    deinit { cancel() }

    /// Ends the watch; on the event thread, its body is not called again.
    public func cancel() {
        let body = onCancel.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
