import CommandLineSupport
import Glibc
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Keeps the newest notice for a hook, from the event thread to the main one.
final class HookInbox: Sendable {
    private let newest = Mutex<(StateChange, Timestamp)?>(nil)

    /// Puts a notice that came at a time in the place of the one before.
    func put(_ change: StateChange, at time: Timestamp) {
        newest.withLock { $0 = (change, time) }
    }

    /// Takes the notice out, if there is one.
    func take() -> (StateChange, Timestamp)? {
        newest.withLock { kept in
            defer { kept = nil }
            return kept
        }
    }
}

/// Runs a hook for notices, on the main thread.
struct HookRunner {
    private let hook: Hook
    private var schedule: HookSchedule
    private var process: HookProcess?
    private var newest: (StateChange, Timestamp)?
    private var told: ReachabilityStatus?
    /// Why it can't be started, as was said.
    private var obstacle: SystemError?
    private let spawn: Spawn

    /// Starts a hook for a notice, after a state that one was told.
    typealias Spawn = (Hook, (StateChange, Timestamp), ReachabilityStatus?) throws(SystemError) -> HookProcess

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - hook: What to run.
    ///   - mask: The blocked signals that hooks start with.
    init(_ hook: Hook, mask: sigset_t) {
        self.init(hook) { (hook, notice, told) throws(SystemError) in
            try .start(
                hook.bytes,
                input: ChangeFormat.json.line(notice.0, at: notice.1),
                environment: HookEnvironment.variables(for: notice.0, after: told),
                mask: mask
            )
        }
    }

    /// Makes a runner that starts hooks in a way of its own.
    init(_ hook: Hook, by spawn: @escaping Spawn) {
        self.hook = hook
        self.spawn = spawn
        schedule = .init(limit: hook.limit)
    }

    /// Whether no hook runs.
    var isIdle: Bool { schedule.isIdle }

    /// When ``tick()`` is due.
    var deadline: Instant? { schedule.deadline }

    /// Takes a notice, newer than all before.
    mutating func post(_ notice: (StateChange, Timestamp)) {
        newest = notice
        perform(schedule.post())
    }

    /// A child has ended, perhaps this one.
    mutating func reap() {
        guard let outcome = process?.outcome(endsRest: schedule.wasAsked) else { return }
        if schedule.wasAsked {
            tell("did not end within \(QuantityText.short(hook.limit)), and was ended")
        } else if outcome != .exited(0) {
            tell(Self.words(outcome))
        }
        process = nil
        perform(schedule.noteEnd())
    }

    /// The time is up that ``deadline`` told.
    mutating func tick(at now: Instant = SystemClock.now) { perform(schedule.tick(at: now)) }

    /// Starts none any more; the one that runs may use its time.
    mutating func close() { schedule.close() }

    /// Ends the one that runs.
    mutating func endNow() { perform(schedule.endNow(at: SystemClock.now)) }

    private mutating func perform(_ action: HookSchedule.Action) {
        switch action {
        case .nothing: break
        case .start: start()
        case .terminate: process?.send(SIGTERM)
        case .kill: process?.send(SIGKILL)
        }
    }

    private mutating func start() {
        guard let notice = newest else { return }
        do throws(SystemError) {
            process = try spawn(hook, notice, told)
            schedule.noteStart(at: SystemClock.now)
            (newest, told, obstacle) = (nil, notice.0.status, nil)
        } catch {
            schedule.noteFailure(at: SystemClock.now)
            // It is tried again and again, and said once.
            if obstacle != error { tell("can't be started: \(error); it is tried again each second") }
            obstacle = error
        }
    }

    /// One line on stderr; where that can't be written there is nobody to tell.
    private func tell(_ what: String) {
        try? LineOutput.standardError.write("netwatch: the hook '\(hook.command.escapedForTerminal)' \(what)\n")
    }

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
    /// What `/bin/sh -c` runs, as text.
    var command: String
    /// The same, byte for byte.
    var bytes: [UInt8]
    /// How long it may take.
    var limit: Duration
}
