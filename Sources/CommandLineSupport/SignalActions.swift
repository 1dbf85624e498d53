import CLinux
import Glibc

/// What this process does about signals (sigaction(2)).
package enum SignalActions {
    /// Whether a signal is ignored, as nohup(1) and shells leave it to their children.
    package static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        // Functions can't be compared, and these two "addresses" are numbers in truth.
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Ignores SIGPIPE from the first use on, so that write(2) tells of closed pipes; the value: whether it was before.
    package static let brokenPipeWasIgnored: Bool = {
        let before = isIgnored(SIGPIPE)
        signal(SIGPIPE, SIG_IGN)
        return before
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
