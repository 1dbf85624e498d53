import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore

/// Keeps the newest change for a hook, from the event thread to the main one.
final class HookInbox: Sendable {
    private let newest = Lock<(ValidatedChange, Timestamp)?>(nil)

    /// Replaces the stored change, with its time.
    func put(_ change: ValidatedChange, at time: Timestamp) { newest.withLock { $0 = (change, time) } }

    /// Takes the change out, if there is one.
    func take() -> (ValidatedChange, Timestamp)? {
        newest.withLock { kept in
            defer { kept = nil }
            return kept
        }
    }
}

/// Runs a hook for changes, on the main thread.
struct HookRunner {
    private let hook: Hook
    private var schedule: HookSchedule
    private var process: HookProcess?
    private var newest: (ValidatedChange, Timestamp)?
    private var told: ReachabilityStatus?
    /// Why it cannot be started, as was said.
    private var obstacle: SystemError?
    /// Whether a signal terminated the one that runs, and not its time limit.
    private var isEndedBySignal = false
    private let spawn: Spawn

    /// Starts a hook for a change, with the state that the previous hook got.
    typealias Spawn = (Hook, (ValidatedChange, Timestamp), ReachabilityStatus?) throws(SystemError) -> HookProcess

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - hook: The command to run.
    ///   - mask: The blocked signals that hooks start with.
    init(_ hook: Hook, mask: sigset_t) {
        self.init(hook) { (hook, change, told) throws(SystemError) in
            try .start(
                hook.bytes,
                input: ChangeFormat.json.line(change.0, at: change.1),
                environment: HookEnvironment.variables(for: change.0, after: told),
                mask: mask
            )
        }
    }

    /// Creates a runner with its own function to start hooks.
    init(_ hook: Hook, by spawn: @escaping Spawn) {
        self.hook = hook
        self.spawn = spawn
        schedule = .init(limit: hook.limit)
    }

    /// Whether no hook runs.
    var isIdle: Bool { schedule.isIdle }

    /// When ``tick()`` is due.
    var deadline: Instant? { schedule.deadline }

    /// Takes a change, newer than all before.
    mutating func post(_ change: (ValidatedChange, Timestamp)) {
        newest = change
        perform(schedule.post())
    }

    /// A child has ended, perhaps this one.
    mutating func reap() {
        guard let outcome = process?.outcome(endsRest: schedule.wasAsked) else { return }
        if isEndedBySignal {
            tell("was ended by a second signal")
        } else if schedule.wasAsked {
            tell("did not end within \(QuantityText.short(hook.limit)), and was ended")
        } else if outcome != .exited(0) {
            tell(Self.words(outcome))
        }
        process = nil
        perform(schedule.noteEnd())
    }

    /// Handles the expiry of ``deadline``.
    mutating func tick(at now: Instant = SystemClock.now) { perform(schedule.tick(at: now)) }

    /// Starts none any more; the one that runs may use its time.
    mutating func close() { schedule.close() }

    /// Ends the one that runs.
    mutating func endNow() {
        let action = schedule.endNow(at: SystemClock.now)
        if action == .terminate { isEndedBySignal = true }
        perform(action)
    }

    private mutating func perform(_ action: HookSchedule.Action) {
        switch action {
        case .nothing: break
        case .start: start()
        case .terminate: process?.send(SIGTERM)
        case .kill: process?.send(SIGKILL)
        }
    }

    private mutating func start() {
        guard let change = newest else { return }
        do throws(SystemError) {
            process = try spawn(hook, change, told)
            schedule.noteStart(at: SystemClock.now)
            (newest, told, obstacle) = (nil, change.0.change.status, nil)
        } catch {
            schedule.noteFailure(at: SystemClock.now)
            // It is tried again and again, and said once.
            if obstacle != error { tell("can't be started: \(error); it is tried again each second") }
            obstacle = error
        }
    }

    private func tell(_ what: String) { StandardError.note("the hook '\(hook.command)' \(what)") }

    private static func words(_ outcome: ChildProcess.Outcome) -> String {
        switch outcome {
        case .exited(127): "ended with 127: the shell did not find the command"
        case .exited(let code): "ended with \(code)"
        case .ended(let signal): "was ended by signal \(signal)"
        }
    }
}

/// A command that is run at each change.
struct Hook: Hashable {
    /// The command for `/bin/sh -c`, as text.
    var command: String
    /// The same, byte for byte.
    var bytes: [UInt8]
    /// The timeout.
    var limit: Duration
}

/// A hook that runs: a shell command in a separate process group, with a change as its standard input.
struct HookProcess {
    private let child: ChildProcess

    /// Starts a hook (posix_spawn(3)).
    ///
    /// Its stdout is this process's stderr: its output is not the tool's own.
    ///
    /// - Parameters:
    ///   - command: The command for `/bin/sh -c`, byte for byte.
    ///   - input: Its standard input, up to the size of a pipe.
    ///   - environment: The variables to set in addition to this process's own.
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
        // The shell's own end blocks, as programs expect. Both are this process's, so that nothing is lost by a hook
        // that reads late; a change is far smaller than a pipe's 64 KiB.
        _ = try retryingOnInterrupt { fcntl(ends[0], F_SETFL, 0) }
        _ = input.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        return .init(child: .init(id: try spawn(command, input: ends[0], environment, mask)))
    }

    /// Sends a signal to the hook and whatever it has started (kill(2)).
    func send(_ signal: Int32) { kill(-child.id, signal) }

    /// How the shell ended, or nil while it runs.
    ///
    /// - Parameter endsRest: Whether what it leaves behind in its group is killed with it; its number is still taken
    ///   then.
    /// - Returns: How it ended.
    func outcome(endsRest: Bool) -> ChildProcess.Outcome? {
        if endsRest {
            var information = siginfo_t()
            // If no child has ended, it returns 0 and leaves the structure unchanged.
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
        var words = [strdup("sh"), strdup("-c"), strdup((command + [0]).map { CChar(bitPattern: $0) }), nil]
        let own = environment.map { strdup("\($0)=\($1)") }
        defer { for pointer in words + own { free(pointer) } }
        var variables = HookEnvironment.own(without: environment).map(Optional.some) + own + [nil]
        // In a group of its own, which is ended with it: that of the attributes is 0, a new one, by default.
        return try ChildProcess.spawn(mask: mask, flags: POSIX_SPAWN_SETPGROUP) {
            posix_spawn(&$0, "/bin/sh", &actions, &$1, &words, &variables)
        }
    }
}

/// The environment variables of hooks.
enum HookEnvironment {
    /// The variables for a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - told: The state that the previous hook got; nil for the first.
    /// - Returns: Names and values.
    static func variables(for change: ValidatedChange, after told: ReachabilityStatus?) -> [(String, String)] {
        [
            ("NETWATCH_STATUS", change.change.status.name), ("NETWATCH_PREVIOUS", told?.name ?? ""),
            ("NETWATCH_INTERFACE", change.change.path.interface?.name ?? ""),
        ] + (change.validation.map { [("NETWATCH_VALIDATION", $0.verdict.name)] } ?? [])
    }

    /// The names of all variables that hooks may get.
    private static let names = ["NETWATCH_STATUS", "NETWATCH_PREVIOUS", "NETWATCH_INTERFACE", "NETWATCH_VALIDATION"]

    /// This process's variables, byte for byte, but those that others take the place of.
    ///
    /// Those of hooks are left out in any case: without a verdict, there is no `NETWATCH_VALIDATION`.
    ///
    /// - Parameter variables: The others.
    /// - Returns: Pointers that last as long as the environment does.
    static func own(without variables: [(String, String)]) -> [UnsafeMutablePointer<CChar>] {
        var own: [UnsafeMutablePointer<CChar>] = []
        let prefixes = (variables.map { $0.0 } + names).map { $0 + "=" }
        var next = environ
        while let entry = next.pointee {
            if !prefixes.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { own.append(entry) }
            next += 1
        }
        return own
    }
}
