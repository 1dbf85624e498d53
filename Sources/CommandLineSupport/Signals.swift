import CLinux
import Glibc
package import LinuxSystem

/// This process's signal dispositions (sigaction(2)).
package enum SignalActions {
    /// Whether a signal is ignored, as nohup(1) and shells leave it to their children.
    package static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        // Functions cannot be compared, and these two "addresses" are numbers in truth.
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The signals that are ignored from the first use on, so that write(2) reports closed pipes and limits on file sizes
    /// (setrlimit(2)); without those that were ignored before.
    ///
    /// Programs that are executed get the default actions back: an ignored signal would stay ignored (execve(2)).
    package static let ignoredForWrites: [Int32] = {
        let numbers = [SIGPIPE, SIGXFSZ].filter { !isIgnored($0) }
        for number in numbers { signal(number, SIG_IGN) }
        return numbers
    }()

    /// Ends this process by a signal that it has blocked, as the signal does by itself, with a core dump if it makes one.
    package static func end(by number: Int32) {
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, number)
        raise(number)
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// Stops this process as SIGTSTP does by itself, until SIGCONT, although the signal is blocked.
    ///
    /// Not by SIGSTOP: the kernel ignores SIGTSTP where no shell could continue the process, and must decide that here.
    package static func stopUntilContinued() {
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGTSTP)
        raise(SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        pthread_sigmask(SIG_BLOCK, &mask, nil)
    }
}

/// Receives signals through a descriptor (signalfd(2)) instead of handlers.
///
/// It must be made on the main thread before any other thread starts, because threads inherit the blocked signals.
package final class SignalDescriptor {
    /// The descriptor, readable when a signal is there.
    package let descriptor: Int32
    /// The signals that were blocked before.
    private let previousMask: sigset_t

    /// Blocks signals and opens a descriptor for them.
    package init(_ signals: [Int32]) throws(SystemError) {
        var mask = sigset_t()
        var previous = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        let failure = pthread_sigmask(SIG_BLOCK, &mask, &previous)
        guard failure == 0 else { throw .init(code: failure) }
        previousMask = previous
        do throws(SystemError) {
            descriptor = try retryingOnInterrupt { signalfd(-1, &mask, Int32(SFD_CLOEXEC | SFD_NONBLOCK)) }
        } catch {
            pthread_sigmask(SIG_SETMASK, &previous, nil)
            throw error
        }
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

/// A received signal.
package struct ReceivedSignal: Hashable {
    /// Its number (signal(7)).
    package let number: Int32
    /// Whether a process sent it (kill(2), sigqueue(3)); not so the kernel, as for a key pressed in the terminal.
    package let isFromProcess: Bool
}
