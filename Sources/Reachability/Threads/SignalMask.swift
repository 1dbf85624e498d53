import Glibc

/// The signals that a library's own threads leave to the program (pthread_sigmask(3)).
enum SignalMask {
    /// Blocks them in the calling thread, from which a new one inherits that; gives what was blocked before.
    static func blockAll() -> sigset_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        for signal in crashes { sigdelset(&all, signal) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        return before
    }

    /// Blocks what was blocked before.
    static func restore(_ before: sigset_t) {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// What the kernel raises in the thread that errs: blocked, it ends the process without asking its handlers.
    private static let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT]
}
