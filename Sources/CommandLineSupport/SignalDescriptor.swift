package import CLinux
import Glibc

/// Receives signals through a descriptor (signalfd(2)) instead of handlers.
///
/// It must be made on the main thread before any other thread starts, because threads inherit the blocked signals.
package final class SignalDescriptor {
    /// The descriptor, readable when a signal is there.
    package let descriptor: Int32
    /// The signals that were blocked before.
    package let previousMask: sigset_t

    /// Blocks signals and opens a descriptor for them.
    package init(_ signals: [Int32]) throws(SystemError) {
        var mask = sigset_t()
        var previous = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        let failure = pthread_sigmask(SIG_BLOCK, &mask, &previous)
        guard failure == 0 else { throw .init(code: failure) }
        previousMask = previous
        descriptor = try retryingOnInterrupt { signalfd(-1, &mask, Int32(SFD_CLOEXEC | SFD_NONBLOCK)) }
    }

    deinit { close(descriptor) }

    /// Unblocks the signals again in the calling thread, as for something else to handle them.
    package func unblock() {
        var mask = previousMask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// The next signal, or nil if there is none now.
    package func next() -> ReceivedSignal? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor, &information, size) == size else { return nil }
        return .init(number: Int32(information.ssi_signo), isFromProcess: information.ssi_code <= 0)
    }
}

/// A signal that came.
package struct ReceivedSignal: Hashable {
    /// Its number (signal(7)).
    package let number: Int32
    /// Whether a process sent it (kill(2), sigqueue(3)); not so the kernel, as for a key pressed in the terminal.
    package let isFromProcess: Bool
}
