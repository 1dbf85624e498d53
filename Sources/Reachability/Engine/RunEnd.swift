import Glibc
import Synchronization

/// The end of a run's event thread; outlives the run, which holds descriptors.
final class RunEnd: Sendable {
    private let gate = Gate<Bool>()
    private let thread = Atomic<UInt>(0)

    /// Whether the calling thread is the event thread.
    var isOwn: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Notes that the calling thread is the event thread.
    func begin() { thread.store(UInt(pthread_self()), ordering: .releasing) }

    /// Notes that the sink is not called any more.
    func come() {
        // The kernel may give the thread's number to another.
        thread.store(0, ordering: .releasing)
        gate.open(true)
    }

    /// Waits for the end, unless the calling thread is the event thread.
    func wait() {
        if !isOwn { _ = gate.wait() }
    }
}
