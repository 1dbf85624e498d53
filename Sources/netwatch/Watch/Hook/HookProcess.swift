import CLinux
import CommandLineSupport
import Glibc
import NetwatchCore

/// A hook that runs: a shell's command, in a process group of its own, with a notice as its standard input.
struct HookProcess {
    private let child: ChildProcess

    /// Starts a hook (posix_spawn(3)).
    ///
    /// Its stdout is this process's stderr: whatever it prints is not what was asked of the tool.
    ///
    /// - Parameters:
    ///   - command: What `/bin/sh -c` runs, byte for byte.
    ///   - input: What it reads, up to what a pipe holds.
    ///   - environment: What is set beside this process's own variables.
    ///   - mask: The blocked signals that it starts with.
    /// - Returns: The running hook.
    /// - Throws: The errno.
    static func start(
        _ command: [UInt8],
        input: [UInt8],
        environment: [(String, String)],
        mask: sigset_t
    ) throws(SystemError) -> Self {
        var ends: [Int32] = [-1, -1]
        _ = try retryingOnInterrupt { pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
        defer { for end in ends { close(end) } }
        // The shell's own end blocks, as programs expect. Both are this process's, so that nothing is lost by a hook that
        // reads late; a notice is far smaller than a pipe's 64 KiB.
        _ = try retryingOnInterrupt { fcntl(ends[0], F_SETFL, 0) }
        _ = input.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        return .init(child: .init(id: try spawn(command, input: ends[0], environment, mask)))
    }

    /// Sends a signal to the hook and whatever it has started (kill(2)).
    func send(_ signal: Int32) { kill(-child.id, signal) }

    /// How the shell ended, or nil while it runs.
    ///
    /// - Parameter endsRest: Whether what it leaves behind in its group is killed with it; its number is still taken then.
    /// - Returns: How it ended.
    func outcome(endsRest: Bool) -> ChildProcess.Outcome? {
        if endsRest {
            var information = siginfo_t()
            // It answers 0, and leaves the structure as it was, where nothing has ended.
            guard waitid(P_PID, id_t(child.id), &information, WEXITED | WNOHANG | WNOWAIT) == 0,
                information.si_signo == SIGCHLD
            else { return nil }
            send(SIGKILL)
        }
        return child.outcome()
    }

    private static func spawn(
        _ command: [UInt8],
        input: Int32,
        _ environment: [(String, String)],
        _ mask: sigset_t
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (mask, sigset_t())
        sigemptyset(&defaults)
        if !SignalActions.brokenPipeWasIgnored { sigaddset(&defaults, SIGPIPE) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = [strdup("sh"), strdup("-c"), strdup((command + [0]).map { CChar(bitPattern: $0) }), nil]
        let own = environment.map { strdup("\($0)=\($1)") }
        defer { for pointer in words + own { free(pointer) } }
        var variables = HookEnvironment.own(without: environment).map(Optional.some) + own + [nil]
        var id = pid_t()
        let failure = posix_spawn(&id, "/bin/sh", &actions, &attributes, &words, &variables)
        guard failure == 0 else { throw .init(code: failure) }
        return id
    }
}
