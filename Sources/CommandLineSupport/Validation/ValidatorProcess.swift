package import CLinux
import Glibc
package import LinuxSystem
package import NetwatchCore
package import ReachabilityCore

/// A running `netwatch-validate`, which asks servers so that this executable links no HTTP stack.
///
/// It has a process group of its own, so that Ctrl-C in the terminal is this process's business alone. It ends when this
/// process does: its stdin is closed then.
package final class ValidatorProcess {
    private let id: pid_t
    private let input: Descriptor
    private let output: Descriptor
    private let errors: Descriptor
    private var line: [UInt8] = []
    private var message: [UInt8] = []

    /// The maximum length of a line in bytes; a report is far shorter.
    private static let maximumLength = 1 << 20
    /// The bytes of its stderr that are kept for the error.
    private static let messageLength = 2048

    /// Starts the executable in the directory of this one (posix_spawn(3)).
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - mask: The blocked signals that it starts with; nil for those of the calling thread.
    /// - Throws: The error to show if it is missing or can't be executed.
    package init(_ arguments: [String], mask: sigset_t? = nil) throws(ToolError) {
        do throws(SystemError) {
            let childInput = try Pipe()
            let childOutput = try Pipe()
            let childErrors = try Pipe()
            id = try Self.spawn([Self.path] + arguments, childInput, childOutput, childErrors, mask)
            input = try childInput.takeWriteEnd()
            output = try childOutput.takeReadEnd()
            errors = try childErrors.takeReadEnd()
        } catch {
            throw Self.failure(error)
        }
    }

    deinit { end() }

    /// The path of the executable.
    private static var path: String { ExecutableDirectory.path + "/netwatch-validate" }

    /// What it has done.
    package enum Event {
        /// It has printed a report.
        case report(ValidationSummary)
        /// It has ended; the error to show.
        case ended(ToolError)
        /// Nothing before the deadline, or the wakeup.
        case nothing
    }

    /// Waits for its next report, or its end.
    ///
    /// - Parameters:
    ///   - deadline: When to return in any case; nil for never.
    ///   - wakeup: What else ends the wait.
    /// - Returns: What it has done.
    package func next(until deadline: Instant? = nil, wakeup: Wakeup? = nil) -> Event {
        while true {
            if let event = nextLine() { return event }
            var descriptors = [
                pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errors.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&descriptors, nfds_t(descriptors.count), deadline?.pollTimeout ?? -1)
            if descriptors[2].revents != 0 || (ready == 0 && deadline.map { $0 <= SystemClock.now } == true) {
                return .nothing
            }
            if descriptors[1].revents != 0 { readMessage() }
            if descriptors[0].revents != 0, !readOutput() { return .ended(outcome()) }
        }
    }

    // MARK: Output

    /// Takes a line out of what was read.
    private func nextLine() -> Event? {
        guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let bytes = line[..<end]
        line = Array(line[(end + 1)...])
        do throws(ValidationSummaryError) {
            return .report(try .init(decoding: bytes))
        } catch {
            return .ended(.init("netwatch-validate: \(error); install it of this version", exit: .unavailable))
        }
    }

    /// Reads more; false at the end, or if no line ends.
    private func readOutput() -> Bool {
        guard let bytes = Self.read(output.number), line.count + bytes.count <= Self.maximumLength else { return false }
        line += bytes
        return true
    }

    private func readMessage() {
        guard let bytes = Self.read(errors.number) else { return }
        message += bytes.prefix(Self.messageLength - message.count)
    }

    /// Reads what is there; nil at the end.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    // MARK: End

    /// Ends it; it has nothing to keep.
    private func end() {
        guard !hasEnded else { return }
        kill(id, SIGKILL)
        _ = wait()
    }

    private var hasEnded = false

    /// Returns its exit status; nil if a signal has ended it, or it is not known.
    private func wait() -> Int32? {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        hasEnded = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    /// Returns the error that it has written, with its exit status.
    private func outcome() -> ToolError {
        // Its stderr is closed with its stdout, unless it has stopped to write lines.
        kill(id, SIGTERM)
        let status = wait()
        while message.count < Self.messageLength, let bytes = Self.read(errors.number), !bytes.isEmpty {
            message += bytes.prefix(Self.messageLength - message.count)
        }
        let text = String(decoding: message, as: UTF8.self).split(separator: "\n").first.map(String.init)
        guard let status, status != 0, let text, text.hasPrefix("netwatch: ") else {
            return .init("netwatch-validate has ended before it was told to; try again", exit: .unavailable)
        }
        return .init(text.dropFirst("netwatch: ".count).escapedForTerminal, exit: .init(rawValue: status))
    }

    // MARK: Start

    private static func failure(_ error: SystemError) -> ToolError {
        let path = path.escapedForTerminal
        guard error.code == ENOENT else {
            let words = "--validate: cannot execute '\(path)': \(error); reinstall netwatch-validate"
            return .init(words, exit: .unavailable)
        }
        return .init(
            "--validate needs netwatch-validate, and there is no '\(path)'; install the package netwatch-validate, or run "
                + "'./scripts/netwatch validate --help' in a checkout, which builds it",
            exit: .unavailable
        )
    }

    private static func spawn(
        _ words: [String],
        _ input: borrowing Pipe,
        _ output: borrowing Pipe,
        _ errors: borrowing Pipe,
        _ mask: sigset_t?
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.readNumber, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output.writeNumber, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.writeNumber, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setpgroup(&attributes, 0)
        if var mask {
            posix_spawnattr_setsigmask(&attributes, &mask)
            flags |= POSIX_SPAWN_SETSIGMASK
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id = pid_t()
        let failure = posix_spawn(&id, words[0], &actions, &attributes, &arguments, environ)
        guard failure == 0 else { throw .init(code: failure) }
        return id
    }
}

/// A pipe (pipe2(2)), whose ends are closed with it unless they are taken.
private struct Pipe: ~Copyable {
    let readNumber: Int32
    let writeNumber: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retryingOnInterrupt("pipe2") { pipe2(&ends, O_CLOEXEC) }
        (readNumber, writeNumber) = (ends[0], ends[1])
    }

    deinit {
        close(readNumber)
        close(writeNumber)
    }

    /// Returns a descriptor of its own for the end to read from.
    func takeReadEnd() throws(SystemError) -> Descriptor { try Self.duplicate(readNumber) }

    /// Returns a descriptor of its own for the end to write to.
    func takeWriteEnd() throws(SystemError) -> Descriptor { try Self.duplicate(writeNumber) }

    private static func duplicate(_ number: Int32) throws(SystemError) -> Descriptor {
        try Descriptor("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
    }
}
