import CommandLineLab
import Glibc
import NetworkLab
import Testing

/// The terminal is restored however the live view ends.
@Suite(.timeLimit(.minutes(5))) struct LifeCycleTests {
    private let lab: LabNamespace

    init() throws { lab = try LabNamespace() }

    @Test(arguments: ["q", "\u{3}"])
    func `a key ends the view`(key: String) throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        #expect(view.terminal.settings != view.before)
        view.terminal.type(key)
        try expectRestored(view, code: 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the view with 0`(signal: Int32) throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        view.tool.send(signal)
        try expectRestored(view, code: 0)
    }

    /// The thread sanitizer handles a crash itself, or waits for one of its locks in the handler: a signal may arrive at
    /// any time, also within the sanitizer.
    @Test(
        .disabled(if: LabSanitizer.isThread, "the sanitizer handles these signals itself"),
        arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS]
    )
    func `a crash restores the terminal, and the parent receives the signal`(signal: Int32) throws {
        try expectEnd(by: signal)
    }

    @Test(arguments: [
        SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT, 34, 64,
    ])
    func `any other fatal signal restores the terminal`(signal: Int32) throws {
        try expectEnd(by: signal)
    }

    private func expectEnd(by signal: Int32) throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        view.tool.send(signal)
        try expectRestored(view, code: 1000 + signal)
    }

    @Test func `the terminal's wheel mode is saved once before it is changed`() throws {
        let session = try ShellSession(in: lab)
        #expect(try session.terminal.read(until: "quit").contains("\u{1B}[?1007s\u{1B}[?1007h"))
        session.terminal.type("\u{1A}")
        #expect(try session.terminal.read(until: "was stopped").contains("\u{1B}[?1007r"))
        session.terminal.type("\n")
        var written = try session.terminal.read(until: "quit")
        session.terminal.type("q")
        written += try session.terminal.read(until: "ended with 0")
        #expect(written.ranges(of: "\u{1B}[?1007s").count == 1)
        #expect(written.contains("\u{1B}[?1007r"))
    }

    @Test func `an absurdly large terminal size is limited`() throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        for (columns, rows) in [(40_000, 24), (80, 65_535), (65_535, 24)] as [(UInt16, UInt16)] {
            view.terminal.resize(columns: columns, rows: rows)
        }
        try view.waitUntilDrawn()
        view.terminal.type("q")
        try expectRestored(view, code: 0)
    }

    @Test func `an absurdly large initial terminal size is limited`() throws {
        let view = try ViewOnTerminal(in: lab, size: (65_535, 24))
        try view.waitUntilDrawn()
        view.terminal.type("q")
        try expectRestored(view, code: 0)
    }

    @Test func `a closed terminal ends the view with 0`() throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        view.terminal.handOver()
        view.terminal.screen.end()
        #expect(try view.tool.exitCode() == 0)
    }

    @Test func `a blocked terminal does not prevent the end`() throws {
        let view = try ViewOnTerminal(in: lab)
        try view.waitUntilDrawn()
        // Each size is drawn again, and soon the terminal's buffer is full.
        for columns in 100..<400 as Range<UInt16> { view.terminal.resize(columns: columns, rows: 300) }
        view.tool.send(SIGTERM)
        #expect(try view.tool.exitCode() == 0)
        #expect(view.terminal.settings == view.before)
    }

    @Test func `keys are read from the terminal of the view, whatever stdin is`() throws {
        let view = try ViewOnTerminal(in: lab, readsTerminal: false)
        try view.waitUntilDrawn()
        view.tool.type("q\n")
        view.terminal.type("q")
        try expectRestored(view, code: 0)
    }

    @Test func `a missing namespace is reported on stderr after the screen is restored`() throws {
        let view = try ViewOnTerminal(["--netns", "no-such-namespace"], in: lab)
        #expect(try view.tool.exitCode() == 64)
        #expect(view.terminal.settings == view.before)
        #expect(try view.tool.errors.rest().contains("there is no network namespace"))
    }

    @Test func `a stopped view restores the terminal, and takes it again in the foreground`() throws {
        let session = try ShellSession(in: lab)
        _ = try session.terminal.read(until: "quit")
        let drawing = session.terminal.settings
        session.terminal.type("\u{1A}")
        let stopped = try session.terminal.read(until: "was stopped")
        #expect(stopped.contains(ViewOnTerminal.leave))
        #expect(session.terminal.settings == session.before)
        session.terminal.type("\n")
        let again = try session.terminal.read(until: "quit")
        #expect(again.contains("\u{1B}[?1049h"))
        #expect(session.terminal.settings == drawing)
        session.terminal.type("q")
        _ = try session.terminal.read(until: "ended with 0")
        #expect(session.terminal.settings == session.before)
    }

    private func expectRestored(_ view: ViewOnTerminal, code: Int32) throws {
        let end = try view.end()
        #expect(end.code == code)
        // The cursor is shown, and the wheel mode is restored.
        #expect(end.written.contains("\u{1B}[?25h"))
        #expect(end.written.contains("\u{1B}[?1007r") && !end.written.contains("\u{1B}[?1007l"))
        #expect(view.terminal.settings == view.before)
        #expect(try view.tool.errors.rest() == "")
    }
}
