import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem

/// A command that was started.
struct ChildProcess {
    /// Its process id; valid until ``outcome()`` has returned its end.
    let id: pid_t

    /// Starts a command, found as shells find it (posix_spawn(3)), with this process's files.
    ///
    /// It is in this process's group, so that the terminal and job control see both as one job.
    ///
    /// - Parameters:
    ///   - command: The command and its arguments, byte for byte.
    ///   - mask: The blocked signals that it starts with.
    /// - Returns: The running command.
    /// - Throws: The errno, which distinguishes whether it was found.
    static func start(_ command: CommandWords, mask: sigset_t) throws(SystemError) -> Self {
        do throws(SystemError) {
            return try spawn(command.pointers, mask: mask)
        } catch {
            // A script without '#!' is the shell's, as execvp(3) has it.
            guard error.code == ENOEXEC, let file = CommandSearch.find(command.name) else { throw error }
            let shell = [strdup("/bin/sh"), strdup(file)]
            defer { for word in shell { free(word) } }
            return try spawn(shell + command.pointers.dropFirst(), mask: mask)
        }
    }

    /// Sends it a signal (kill(2)); a process that has ended but was not reaped ignores it.
    func send(_ signal: Int32) { kill(id, signal) }

    /// How it ended, or nil while it runs (waitpid(2)).
    func outcome() -> Outcome? {
        var status: Int32 = 0
        guard waitpid(id, &status, WNOHANG) == id else { return nil }
        // The macros WIFEXITED and the like, which Swift cannot import.
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .ended(signal: signal)
    }

    /// How a process ended.
    enum Outcome: Hashable {
        /// By exit(3) with a code.
        case exited(Int32)
        /// By a signal.
        case ended(signal: Int32)

        /// The exit status that a shell would report.
        var exitStatus: ExitStatus {
            switch self {
            case .exited(let code): .init(rawValue: code)
            case .ended(let signal): .endedBySignal(signal)
            }
        }
    }

    private static func spawn(_ arguments: [UnsafeMutablePointer<CChar>?], mask: sigset_t) throws(SystemError) -> Self {
        guard let file = arguments.first.flatMap(\.self) else { throw .init(code: ENOENT) }
        var terminated = arguments + [nil]
        return .init(id: try spawn(mask: mask) { posix_spawnp(&$0, file, nil, &$1, &terminated, environ) })
    }

    /// Starts a process with a signal mask; it ignores those signals that this process ignored from its start.
    ///
    /// - Parameters:
    ///   - mask: The blocked signals that it starts with.
    ///   - flags: `POSIX_SPAWN_*`, besides those for signals.
    ///   - start: Calls posix_spawn(3) with these attributes, and returns the errno.
    /// - Returns: The process's id.
    /// - Throws: The errno.
    static func spawn(
        mask: sigset_t,
        flags: Int32 = 0,
        _ start: (inout pid_t, inout posix_spawnattr_t) -> Int32
    ) throws(SystemError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (mask, sigset_t())
        sigemptyset(&defaults)
        for number in SignalActions.ignoredForWrites { sigaddset(&defaults, number) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var id = pid_t()
        let failure = start(&id, &attributes)
        guard failure == 0 else { throw .init(code: failure) }
        return id
    }
}

/// A command and its arguments as this process received them, byte for byte.
///
/// Swift's strings are UTF-8 and would replace invalid bytes; file names may contain any.
struct CommandWords {
    /// The words, without a null pointer behind them; they live as long as the process.
    let pointers: [UnsafeMutablePointer<CChar>?]
    /// The command itself, for messages and for finding it.
    let name: String

    /// Takes the last words of the command line.
    ///
    /// - Parameter words: The same words as the argument parser gave them; not empty.
    init(last words: [String]) {
        let first = max(0, Int(CommandLine.argc) - words.count)
        pointers = (first..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
        name = words.first ?? ""
    }
}

/// Finds a command's file in `PATH`, as execvp(3) does.
enum CommandSearch {
    /// The file, or nil if there is none that may be executed.
    static func find(_ command: String) -> String? {
        guard !command.contains("/") else { return command }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        return candidates(for: command, path: path).first { access($0, X_OK) == 0 }
    }

    /// The files to try, in order; an empty entry of the path is the current directory.
    static func candidates(for command: String, path: String) -> [String] {
        path.split(separator: ":", omittingEmptySubsequences: false).map { ($0.isEmpty ? "." : $0) + "/" + command }
    }
}
