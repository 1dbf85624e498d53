import Glibc
import Synchronization

/// A thread of a test (pthreads(7)), for work that must not run on Swift's pool because it blocks or spins.
package final class LabThread: Sendable {
    private let thread: pthread_t
    private let isJoined = Atomic(false)

    /// Starts a thread.
    ///
    /// ``join()`` waits for its end; a thread whose value is released without that is detached.
    package init(_ body: @escaping @Sendable () -> Void) throws(LabError) {
        let context = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            throw LabError("pthread_create", errno: code)
        }
        self.thread = thread
    }

    /// Waits until the thread has ended; to be called once.
    package func join() {
        isJoined.store(true, ordering: .relaxed)
        pthread_join(thread, nil)
    }

    deinit { if !isJoined.load(ordering: .relaxed) { pthread_detach(thread) } }

    /// The work of the thread.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
