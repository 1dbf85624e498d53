import CommandLineSupport
import Glibc

/// Runs something on a thread that nobody waits for (pthread_create(3)).
enum DetachedThread {
    /// Starts the thread.
    ///
    /// - Throws: The error number of pthread_create(3), as when the user has too many threads.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let body = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard failure == 0 else {
            body.release()
            throw .init(code: failure)
        }
        pthread_detach(thread)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
