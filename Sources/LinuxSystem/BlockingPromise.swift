import Glibc
package import ReachabilityCore

/// A value that one thread supplies once, and that other threads wait for.
///
/// `@unchecked Sendable`: `value` is accessed only while `mutex` is held; the mutex and the condition stay at fixed
/// addresses, and their functions are safe on any thread.
package final class BlockingPromise<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value?

    /// Creates a promise without a value.
    package init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Supplies the value; later calls have no effect.
    package func fulfill(_ value: Value) {
        pthread_mutex_lock(mutex)
        if self.value == nil { self.value = value }
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Whether there is a value.
    package var isFulfilled: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return value != nil
    }

    /// Blocks the calling thread until there is a value.
    package func wait() -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value { return value }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Blocks the calling thread until there is a value, or until a deadline.
    ///
    /// - Parameter deadline: When to stop waiting.
    /// - Returns: The value; nil if there is none by then.
    package func wait(until deadline: Instant) -> Value? {
        let (seconds, nanoseconds) = deadline.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while value == nil {
            guard pthread_cond_timedwait(condition, mutex, &time) == 0 else { return value }
        }
        return value
    }
}
