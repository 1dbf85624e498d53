import CLinux
import Glibc

/// Asks for a password on the terminal, which does not show what is typed.
package struct PasswordPrompt {
    /// What came of it.
    package enum Answer: Hashable {
        /// The line that was typed; nil if there was none.
        case typed(String?)
        /// A signal came instead.
        case signal(Int32)
    }

    /// What is written first.
    package let question: String
    /// The signals that end it, blocked, so that the terminal is left as it was.
    package let signals: SignalDescriptor

    package init(question: String, signals: SignalDescriptor) {
        self.question = question
        self.signals = signals
    }

    /// Asks on the terminal that controls this process, whatever stdin and stdout are; see tty(4).
    ///
    /// - Throws: The errno; `ENXIO` where there is no terminal.
    package func ask() throws(SystemError) -> Answer {
        let terminal = try retryingOnInterrupt { open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) }
        defer { close(terminal) }
        var shown = termios()
        _ = try retryingOnInterrupt { tcgetattr(terminal, &shown) }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        // What was typed before the question is no answer to it.
        _ = try retryingOnInterrupt { tcsetattr(terminal, TCSAFLUSH, &hidden) }
        defer {
            _ = try? retryingOnInterrupt { tcsetattr(terminal, TCSAFLUSH, &shown) }
            // The end of the line was not shown either.
            try? LineOutput(descriptor: terminal).write("\n")
        }
        do throws(OutputFailure) { try LineOutput(descriptor: terminal).write(question) } catch {
            throw .init(code: EIO)
        }
        return try answer(terminal)
    }

    private func answer(_ terminal: Int32) throws(SystemError) -> Answer {
        var line: [UInt8] = []
        while true {
            if let signal = signals.next() { return .signal(signal.number) }
            var descriptors = [
                pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = try retryingOnInterrupt { poll(&descriptors, nfds_t(descriptors.count), -1) }
            guard descriptors[0].revents != 0 else { continue }
            // A terminal gives a line at a time, or as much of it as there is room for (termios(3)).
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try retryingOnInterrupt { read(terminal, &buffer, buffer.count) }
            line += buffer[..<count]
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) { return .typed(Self.text(line[..<end])) }
            if count == 0 { return .typed(line.isEmpty ? nil : Self.text(line[...])) }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
}
