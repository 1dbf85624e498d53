import CLinux
import Glibc
package import LinuxSystem

/// Another of the tool's executables, started with files of its own (posix_spawn(3)).
package struct HelperProcess: Sendable {
    /// Its process id; valid until ``wait()`` has returned.
    private let id: pid_t

    /// Starts an executable, which gets no other files than these.
    ///
    /// - Parameters:
    ///   - words: Its path and arguments.
    ///   - input: The file that is its stdin.
    ///   - output: The file that is its stdout; nil for `/dev/null`.
    ///   - errors: The file that is its stderr; nil for that of this process.
    /// - Returns: The running process.
    /// - Throws: The errno if it can't be started.
    package static func start(
        _ words: [String],
        input: Int32,
        output: Int32? = nil,
        errors: Int32? = nil
    ) throws(SystemError) -> Self {
        // A process whose end is ignored leaves no exit status (wait(2)). Otherwise nothing is changed: that would discard a
        // signal that another thread waits for (sigaction(2)).
        if SignalActions.isIgnored(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_RDWR, 0)
        }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        // NIO opens its sockets without O_CLOEXEC: a client would not notice that its connection was closed.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The thread that calls this may have all signals blocked.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        // In a group of its own, which a terminal's control-C does not reach: this process ends it.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var id = pid_t()
        let failure = posix_spawn(&id, words[0], &actions, &attributes, &arguments, environ)
        guard failure == 0 else { throw .init(code: failure) }
        return .init(id: id)
    }

    /// Ends it at once (SIGKILL).
    package func kill() { Glibc.kill(id, SIGKILL) }

    /// Waits for its end, but leaves its process id to it until ``wait()`` has returned (waitid(2)).
    package func waitForEnd() throws(SystemError) {
        var information = siginfo_t()
        _ = try retryingOnInterrupt { waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) }
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit status; 128 plus the number of the signal that ended it.
    package func wait() throws(SystemError) -> Int32 {
        var status: Int32 = 0
        _ = try retryingOnInterrupt { waitpid(id, &status, 0) }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
