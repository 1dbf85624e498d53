import CNetlink
import Glibc

/// Starts threads for event loops: with a small stack, and without signals, which are the program's own affair.
enum EventThread {
    /// Callbacks that run at once run on this stack.
    private static let stackSize = 512 << 10

    /// Starts a thread, joinable by ``join(_:)``: pthread_create(3).
    ///
    /// - Throws: ``MonitorError/Code/noResources`` if the kernel gives none.
    static func start(_ body: @escaping @Sendable () -> Void) throws(MonitorError) -> pthread_t {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        // The new thread inherits the mask: no signal can come between.
        let before = SignalMask.blockAll()
        let code = pthread_create(&thread, &attributes, enter, box.toOpaque())
        SignalMask.restore(before)
        guard code == 0 else {
            box.release()
            throw MonitorError(.noResources, errno: code, "pthread_create")
        }
        return thread
    }

    private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        guard let pointer else { return nil }
        pthread_setname_np(pthread_self(), "reachability")
        Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
        return nil
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
