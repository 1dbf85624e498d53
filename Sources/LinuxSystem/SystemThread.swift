import CLinux
import Glibc
import Synchronization

/// A thread of the library's own, with all signals blocked, so that the program's threads handle them.
///
/// Signals that the kernel raises in the thread that caused them (`SIGSEGV`, …) stay unblocked: blocked, they would end
/// the process without calling its handlers.
package final class SystemThread: Sendable {
    private let ended = BlockingPromise<Bool>()
    /// The thread's pthread_self(3); 0 before it starts and after its end, as the number may be used again.
    private let identifier = Atomic<UInt>(0)

    /// Creates a thread that is not started.
    package init() {}

    /// Whether this is the calling thread.
    package var isCurrent: Bool { identifier.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Whether it has ended.
    package var hasEnded: Bool { ended.isFulfilled }

    /// Starts the thread; to be called once.
    ///
    /// - Parameters:
    ///   - name: Up to 15 bytes, for `ps -L` and debuggers.
    ///   - stackSize: The size of its stack in bytes; nil for the system's default.
    ///   - body: The thread's code. What it captures is released before ``waitForEnd()`` returns.
    /// - Throws: The error number of pthread_create(3), such as `EAGAIN` if there are too many threads.
    package func start(
        _ name: String,
        stackSize: Int? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        try Self.create(.init(name: name, body: body, thread: self), stackSize: stackSize)
    }

    /// Waits until the thread has ended; returns immediately on the thread itself.
    package func waitForEnd() {
        if !isCurrent { _ = ended.wait() }
    }

    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: Up to 15 bytes, for `ps -L` and debuggers.
    ///   - stackSize: The size of its stack in bytes; nil for the system's default.
    ///   - body: The thread's code.
    /// - Throws: The error number of pthread_create(3), such as `EAGAIN` if there are too many threads.
    package static func detach(
        _ name: String,
        stackSize: Int? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        try create(.init(name: name, body: body, thread: nil), stackSize: stackSize)
    }

    /// The start arguments of a new thread.
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        let thread: SystemThread?

        init(name: String, body: @escaping @Sendable () -> Void, thread: SystemThread?) {
            self.name = name
            self.body = body
            self.thread = thread
        }
    }

    private static func create(_ start: Start, stackSize: Int?) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let argument = Unmanaged.passRetained(start)
        var thread = pthread_t()
        // The new thread inherits the mask, so that no signal can arrive in between.
        let mask = SignalMask.blockAll()
        let code = pthread_create(&thread, &attributes, { SystemThread.enter($0) }, argument.toOpaque())
        SignalMask.restore(mask)
        guard code == 0 else {
            argument.release()
            throw .init(code: code, call: "pthread_create")
        }
    }

    private static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let thread = run(argument)
        thread?.identifier.store(0, ordering: .releasing)
        thread?.ended.fulfill(true)
        return nil
    }

    /// Runs the thread's code, and releases it.
    private static func run(_ argument: UnsafeMutableRawPointer) -> SystemThread? {
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        pthread_setname_np(pthread_self(), start.name)
        start.thread?.identifier.store(UInt(pthread_self()), ordering: .releasing)
        start.body()
        return start.thread
    }
}

/// The signals that a library's threads leave to the program (pthread_sigmask(3)).
private enum SignalMask {
    /// The signals that the kernel raises in the thread that caused them.
    private static let synchronous = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT]

    /// Blocks all others in the calling thread, and returns the mask from before.
    static func blockAll() -> sigset_t {
        var mask = sigset_t()
        var previous = sigset_t()
        sigfillset(&mask)
        for signal in synchronous { sigdelset(&mask, signal) }
        pthread_sigmask(SIG_SETMASK, &mask, &previous)
        return previous
    }

    /// Sets the calling thread's mask.
    static func restore(_ mask: sigset_t) {
        var mask = mask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
