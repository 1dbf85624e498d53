import ArgumentParser
import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkClient

/// The authentication options of `netwatch fetch`.
struct FetchUserOptions: ParsableArguments {
    // Parsed in `validate`: the error of an argument's transform shows the argument, which may contain a password.
    @Option(
        name: [.customShort("u", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init(
            "Authenticate when challenged (Basic, Digest); prompts for a missing password.",
            valueName: "user[:password]"
        )
    )
    var user: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Read the password from the first line of this file, such as /dev/fd/3. Hidden from process lists.",
            valueName: "file"
        ),
        completion: .file()
    )
    var passwordFile: String?

    func validate() throws {
        guard let user else {
            guard passwordFile == nil else {
                throw ValidationError("--password-file is of no use without --user; give both")
            }
            return
        }
        do throws(ArgumentError) {
            let argument = try UserArgument.parse(user)
            guard argument.password == nil || passwordFile == nil else {
                throw .init("there are two passwords; leave out the one in --user")
            }
        } catch {
            throw ValidationError("The value of --user can't be taken: \(error)")
        }
    }
}

extension FetchUserOptions {
    /// The result of completing the credential.
    enum Outcome {
        /// The credentials; nil if there is no user.
        case credential(Credential?)
        /// A signal during the prompt for the password.
        case signal(Int32)
    }

    /// Returns the credentials, after reading or prompting for a missing password.
    ///
    /// - Throws: The error for the user.
    func credential(_ signals: FetchSignals) throws(ToolError) -> Outcome {
        guard let user, let argument = try? UserArgument.parse(user) else { return .credential(nil) }
        let password: String
        if let given = argument.password {
            password = given
        } else if let passwordFile {
            password = try Self.firstLine(of: passwordFile)
        } else {
            switch try Self.ask(argument.name, signals) {
            case .typed(let typed?): password = typed
            case .typed(nil): throw .init("no password was typed; type one, or give --password-file", exit: .usage)
            case .signal(let number): return .signal(number)
            }
        }
        guard UserArgument.isWritable(password) else {
            throw .init("the password has a control character, which can't be sent; take another one", exit: .usage)
        }
        return .credential(.init(user: argument.name, password: password))
    }

    private static func ask(_ name: String, _ signals: FetchSignals) throws(ToolError) -> PasswordPrompt.Input {
        let question = "Password for \(name.escapedForTerminal): "
        do throws(SystemError) {
            return try PasswordPrompt(question: question, signals: signals.descriptor).ask()
        } catch {
            let what = "the password is missing, and there is no terminal to ask for it (\(error))"
            throw .init("\(what); give --password-file FILE", exit: .usage)
        }
    }

    private static func firstLine(of path: String) throws(ToolError) -> String {
        let name = path.escapedForTerminal
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try FileContents.read(path, atMost: 65_536) } catch {
            throw .init("can't read '\(name)': \(error); give a file with the password in it", curl: .readError)
        }
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            let what = line.isEmpty ? "is empty" : "is no UTF-8"
            throw .init("the first line of '\(name)' \(what); write the password there", curl: .readError)
        }
        return text
    }
}

/// The value of `--user`: a name, and optionally a password.
struct UserArgument: Hashable {
    /// The name.
    var name: String
    /// The password; nil if it is not given here.
    var password: String?

    /// Parses `USER[:PASSWORD]`.
    ///
    /// No error contains the text, which may be a password.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        // By bytes, as the server parses it: a colon with a combining accent is a different Character.
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let name = parts.first, !name.isEmpty else { throw .init("the name is missing; \(howTo)") }
        guard isWritable(text) else { throw .init("it has a control character; leave that out") }
        return .init(name: name, password: parts.count > 1 ? parts[1] : nil)
    }

    /// Returns whether a text may be sent as a name or password (RFC 7617, 2).
    static func isWritable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    }

    private static let howTo = "write USER, and type the password when asked, or USER:PASSWORD"
}

/// Prompts for a password on the terminal, with echo off.
struct PasswordPrompt {
    /// The outcome of a prompt.
    enum Input: Hashable {
        /// The line that was typed; nil if there was none, or it is not UTF-8.
        case typed(String?)
        /// A signal was received.
        case signal(Int32)
    }

    /// The prompt.
    let question: String
    /// The signals that end the prompt; they are blocked, so that the terminal is restored.
    let signals: SignalDescriptor

    /// Prompts on the controlling terminal of this process, regardless of stdin and stdout; see tty(4).
    ///
    /// While the process is stopped (SIGTSTP), the terminal is as it was before; when it continues, the question is repeated.
    ///
    /// - Throws: The errno; `ENXIO` where there is no terminal.
    func ask() throws(SystemError) -> Input {
        let descriptor = try retryingOnInterrupt { open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) }
        defer { close(descriptor) }
        let terminal = try EchoingTerminal(descriptor)
        let jobControl = try SignalDescriptor([SIGTSTP, SIGCONT])
        defer { jobControl.unblock() }
        defer { terminal.restore() }
        try begin(terminal)
        return try readLine(terminal, jobControl)
    }

    private func begin(_ terminal: EchoingTerminal) throws(SystemError) {
        try terminal.hide()
        do throws(OutputFailure) { try LineOutput(descriptor: terminal.descriptor).write(question) } catch {
            throw .init(code: EIO)
        }
    }

    private func readLine(_ terminal: EchoingTerminal, _ jobControl: SignalDescriptor) throws(SystemError) -> Input {
        var line: [UInt8] = []
        while true {
            if let signal = signals.next() { return .signal(signal.number) }
            if let signal = jobControl.next() { try follow(signal, terminal, jobControl) }
            guard try Self.waitForInput(of: terminal, signals, jobControl) else { continue }
            // A terminal returns a line at a time, or as much of it as fits into the buffer (termios(3)).
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try retryingOnInterrupt { read(terminal.descriptor, &buffer, buffer.count) }
            line += buffer[..<count]
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) { return .typed(Self.text(line[..<end])) }
            if count == 0 { return .typed(line.isEmpty ? nil : Self.text(line[...])) }
        }
    }

    /// Stops this process if that was asked for, and begins again once it continues.
    private func follow(
        _ signal: ReceivedSignal,
        _ terminal: EchoingTerminal,
        _ jobControl: SignalDescriptor
    ) throws(SystemError) {
        if signal.number == SIGTSTP {
            terminal.restore()
            SignalActions.stopUntilContinued()
            while jobControl.next() != nil {}
        }
        try begin(terminal)
    }

    /// Waits for input or a signal; returns whether there is input.
    private static func waitForInput(
        of terminal: EchoingTerminal,
        _ signals: SignalDescriptor...
    ) throws(SystemError) -> Bool {
        var descriptors = ([terminal.descriptor] + signals.map(\.descriptor)).map { descriptor in
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        }
        _ = try retryingOnInterrupt { poll(&descriptors, nfds_t(descriptors.count), -1) }
        return descriptors[0].revents != 0
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
}

/// A terminal whose echo can be turned off (termios(3)).
private struct EchoingTerminal {
    let descriptor: Int32
    private var shown = termios()

    /// Keeps the settings as they are.
    init(_ descriptor: Int32) throws(SystemError) {
        self.descriptor = descriptor
        _ = try retryingOnInterrupt { tcgetattr(descriptor, &shown) }
    }

    /// Turns the echo off, and discards input that was typed before.
    func hide() throws(SystemError) {
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        _ = try retryingOnInterrupt { tcsetattr(descriptor, TCSAFLUSH, &hidden) }
    }

    /// Restores the settings, in a new line: what ended the last one was not echoed.
    func restore() {
        var shown = shown
        _ = try? retryingOnInterrupt { tcsetattr(descriptor, TCSAFLUSH, &shown) }
        try? LineOutput(descriptor: descriptor).write("\n")
    }
}
