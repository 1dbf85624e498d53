import Glibc

/// Collects values from any thread; a test can wait for those that it needs.
///
/// Sendable because `values` and nothing else changes, only under `mutex`.
package final class LabInbox<Value: Sendable>: @unchecked Sendable {
    private var values: [Value] = []
    private let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
    private let arrival: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)

    /// Makes an empty inbox.
    package init() {
        pthread_mutex_init(mutex, nil)
        // Deadlines use the monotonic clock, so that setting the time of day changes none.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(arrival, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(mutex)
        arrival.deallocate()
        mutex.deallocate()
    }

    /// Adds a value and wakes the waiting threads.
    package func put(_ value: Value) {
        pthread_mutex_lock(mutex)
        values.append(value)
        pthread_cond_broadcast(arrival)
        pthread_mutex_unlock(mutex)
    }

    /// The values so far.
    package var all: [Value] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return values
    }

    /// Blocks the calling thread until the values satisfy a condition, and returns them.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, with a description of the condition and the values.
    @discardableResult
    package func wait(
        for what: String,
        within limit: Duration = .seconds(120),
        until condition: ([Value]) -> Bool
    ) throws(LabError) -> [Value] {
        var deadline = Self.deadline(after: limit)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !condition(values) {
            if pthread_cond_timedwait(arrival, mutex, &deadline) == ETIMEDOUT, !condition(values) {
                throw LabError("wait for \(what)", errno: ETIMEDOUT, detail: "seen: \(values)")
            }
        }
        return values
    }

    private static func deadline(after limit: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = limit.components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        time.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
