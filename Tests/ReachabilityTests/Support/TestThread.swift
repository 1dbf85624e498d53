import Glibc

/// A thread that runs jobs one after the other, as a monitor's event thread does.
///
/// `@unchecked`: the condition and its mutex stay at fixed addresses; the rest is touched only under that mutex.
final class TestThread: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [@Sendable () -> Void] = []
    private var isEnding = false
    private var thread = pthread_t()

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        let argument = Unmanaged.passRetained(self).toOpaque()
        let failure = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<TestThread>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            },
            argument
        )
        precondition(failure == 0, "no thread for a test")
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Whether the caller is this thread.
    var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    /// Runs a job after the earlier ones.
    func perform(_ job: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Runs a job and waits for its end.
    func run(_ job: @escaping @Sendable () -> Void) {
        let done = Gate()
        perform {
            job()
            done.open()
        }
        done.wait()
    }

    /// Waits until all jobs have run, without blocking the caller's executor, and ends the thread.
    func finish() async {
        await withCheckedContinuation { continuation in perform { continuation.resume() } }
        end()
    }

    /// Runs all jobs, ends the thread, and waits for its end unless it is the caller.
    func end() {
        pthread_mutex_lock(mutex)
        isEnding = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
        if isCurrent { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    private func work() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty, !isEnding { pthread_cond_wait(condition, mutex) }
        return jobs.isEmpty ? nil : jobs.removeFirst()
    }
}

/// A gate at which threads wait until it is opened.
///
/// `@unchecked`: the semaphore stays at a fixed address, and its functions are safe on any thread.
final class Gate: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one waiter pass.
    func open() { sem_post(semaphore) }

    /// Waits, for 300 s at most; returns whether it was opened.
    @discardableResult
    func wait() -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += 300
        while sem_timedwait(semaphore, &deadline) != 0 {
            if errno == ETIMEDOUT { return false }
        }
        return true
    }
}
