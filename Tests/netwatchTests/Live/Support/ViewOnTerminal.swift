import CommandLineLab
import Glibc
import NetworkLab

/// The live view on a terminal that controls it.
final class ViewOnTerminal {
    let terminal: PseudoTerminal
    let tool: ToolProcess
    /// The terminal's settings before.
    let before: [UInt8]

    /// Starts the tool; `stdin` is whether the terminal is also its stdin.
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

    /// Waits until the view is drawn: its last line begins with this key.
    @discardableResult
    func waitUntilDrawn() throws -> String { try terminal.read(until: "quit") }

    /// Waits for the end, and returns the code and the output since the terminal was last read.
    func end() throws -> (code: Int32, written: String) {
        let code = try tool.exitCode()
        return (code, try terminal.read(until: Self.leave))
    }

    /// `rmcup` of xterm: the screen before the view.
    static let leave = "\u{1B}[?1049l"
}
