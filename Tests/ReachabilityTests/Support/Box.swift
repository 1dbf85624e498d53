import Locking

@testable import Reachability

/// Holds a reference that closures change.
final class Box<Value: Sendable>: Sendable {
    private let content = Lock<Value?>(nil)

    var value: Value? {
        get { content.withLock { $0 } }
        set {
            // The old value is released after the lock: its deinitializer may call this type.
            let old = content.withLock { content in
                defer { content = newValue }
                return content
            }
            withExtendedLifetime(old) {}
        }
    }
}

/// An object that reports its release.
final class Token: Sendable {
    private let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}
