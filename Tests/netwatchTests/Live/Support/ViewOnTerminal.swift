import CommandLineLab
import Glibc
import NetworkLab

/// The live view on a terminal that controls it.
final class ViewOnTerminal {
    let terminal: PseudoTerminal
    let tool: ToolProcess
    /// The terminal's settings before.
    let before: [UInt8]

    /// Starts the tool; `stdin` says whether the terminal is its stdin, too.
    init(
        _ arguments: [String] = [],
        in lab: LabNamespace,
        environment: [String: String] = [:],
        readsTerminal: Bool = true,
        size: (columns: UInt16, rows: UInt16) = (80, 24)
    ) throws {
        terminal = try PseudoTerminal()
        terminal.resize(columns: size.columns, rows: size.rows)
        before = terminal.settings
        var variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8", "NO_COLOR": "", "SWIFT_BACKTRACE": "enable=no"]
        variables.merge(environment) { $1 }
        tool = try ToolProcess(
            arguments,
            in: lab,
            stdout: .descriptor(terminal.program),
            environment: variables,
            session: .own(terminal: readsTerminal ? terminal.path : nil)
        )
    }

    /// Waits until it is drawn: its last line begins with this key.
    @discardableResult
    func waitUntilDrawn() throws -> String { try terminal.read(until: "quit") }

    /// Waits for the end, and gives the code and what was written on the terminal since it was read last.
    func end() throws -> (code: Int32, written: String) {
        let code = try tool.exitCode()
        return (code, try terminal.read(until: Self.leave))
    }

    /// `rmcup` of xterm: the screen that was there before.
    static let leave = "\u{1B}[?1049l"
}
