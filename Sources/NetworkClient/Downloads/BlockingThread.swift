import Dispatch
import LinuxSystem
import Locking

/// A thread for work that may block for as long as others like, done in the order in which it was handed over.
///
/// Nobody waits for it: once this object is released, it ends when it has done what it has.
final class BlockingThread: Sendable {
    private let queue = Queue()

    /// The thread's stack, in bytes.
    private static let stackSize = 1 << 20

    /// Starts it; nil if the system has no more threads to give.
    init?() {
        do throws(SystemError) {
            try SystemThread.detach("netwatch-file", stackSize: Self.stackSize) { [queue] in
                while let jobs = queue.next() { for job in jobs { job() } }
            }
        } catch {
            return nil
        }
    }

    deinit { queue.end() }

    /// Hands over work.
    func perform(_ job: @escaping @Sendable () -> Void) { queue.add(job) }

    private final class Queue: Sendable {
        private struct State {
            var jobs: [@Sendable () -> Void] = []
            var isEnding = false
        }

        private let state = Lock(State())
        private let news = DispatchSemaphore(value: 0)

        func add(_ job: @escaping @Sendable () -> Void) {
            state.withLock { $0.jobs.append(job) }
            news.signal()
        }

        func end() {
            state.withLock { $0.isEnding = true }
            news.signal()
        }

        /// Waits for work; nil at the end.
        func next() -> [@Sendable () -> Void]? {
            while true {
                news.wait()
                let (jobs, isEnding) = state.withLock { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isEnding)
                }
                if !jobs.isEmpty { return jobs }
                if isEnding { return nil }
            }
        }
    }
}
