import Glibc

/// The pause between two looks at something whose change nothing announces.
///
/// A loop without one takes the processor from what it waits for.
package enum Polling {
    /// Pauses the thread for a millisecond.
    package static func pause() { usleep(1_000) }

    /// Pauses the task for a millisecond; a task that is cancelled does not pause: for loops that have a deadline.
    package static func pause() async { try? await Task.sleep(for: .milliseconds(1)) }

    /// Pauses the thread for 20 ms, where each look takes a process of its own.
    package static func pauseForProcess() { usleep(20_000) }
}
