import Glibc

/// A thread that nobody joins.
enum DetachedThread {
    /// What a thread can need of its stack: name service modules have taken a few hundred kilobytes.
    ///
    /// Only pages that are touched take memory.
    private static let stackSize = 1 << 20

    /// Starts a thread that takes no signals; returns 0 or the error number.
    ///
    /// pthread_create(3), pthread_attr_setdetachstate(3), pthread_sigmask(3).
    static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        var all = sigset_t()
        var previous = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        let context = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            &attributes,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            context.toOpaque()
        )
        if code != 0 { context.release() }
        return code
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
