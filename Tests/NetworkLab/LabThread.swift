import Glibc

/// A thread of a test's own (pthreads(7)), for what must not run on Swift's pool: what blocks, or spins.
public final class LabThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread; ``join()`` waits for its end.
    public init(_ body: @escaping @Sendable () -> Void) throws(LabError) {
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
    public func join() { pthread_join(thread, nil) }

    /// What the thread is to do.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
