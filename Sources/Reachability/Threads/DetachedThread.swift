import CNetlink
import Glibc

/// Threads that nobody joins.
enum DetachedThread {
    /// Starts a thread with all signals blocked, so that the program's own threads handle them.
    ///
    /// The corresponding C functions are `pthread_create` and `pthread_sigmask`.
    ///
    /// - Parameters:
    ///   - name: Up to 15 bytes, for `ps -L` and debuggers.
    ///   - body: What the thread does.
    /// - Returns: Whether there is such a thread; false if the machine has none to give (`EAGAIN`).
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let before = SignalMask.blockAll()
        let failure = create(start.toOpaque())
        SignalMask.restore(before)
        if failure != 0 { start.release() }
        return failure == 0
    }

    private static func create(_ argument: UnsafeMutableRawPointer) -> Int32 {
        var thread = pthread_t()
        return pthread_create(&thread, nil, { DetachedThread.run($0) }, argument)
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        pthread_detach(pthread_self())
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        pthread_setname_np(pthread_self(), start.name)
        start.body()
        return nil
    }

    /// What a thread is to do.
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
