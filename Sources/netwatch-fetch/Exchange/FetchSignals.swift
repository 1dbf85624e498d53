import CommandLineSupport
import Glibc

/// The signals that end a request in order, so that nothing half-written is left.
struct FetchSignals {
    /// Where they are received.
    let descriptor: SignalDescriptor

    /// Blocks them; to be called before any other thread starts.
    ///
    /// What is ignored stays ignored, as nohup(1) wants.
    init() throws(ToolError) {
        let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !SignalActions.isIgnored($0) }
        do throws(SystemError) { descriptor = try .init(ending) } catch { throw error.toolError("wait for signals") }
    }

    /// Lets them end the process again, as while it writes to a pipe that nobody may empty.
    func unblock() {
        var mask = descriptor.previousMask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
