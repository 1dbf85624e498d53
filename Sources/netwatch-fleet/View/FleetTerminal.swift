import CommandLineSupport
import TerminalDrawing

/// Shows the table of a fleet.
enum FleetTerminal {
    /// Shows it on a terminal until it is left.
    static func show(
        _ configuration: FleetSession.Configuration,
        listen: LoopbackAddress?,
        on terminal: OpenTerminal
    ) throws(ToolError) -> ExitStatus {
        // Also where the store can't be opened: what is said of that is not for a screen that goes away.
        defer { terminal.screen.leave() }
        let session = try FleetSession(configuration, listen: listen)
        defer { session.stop() }
        let wait = TerminalWait(signals: terminal.signals, wakeup: session.viewer.wakeup, device: terminal.device)
        let isASCII = terminal.isASCII
        return try FleetShell(session, terminal.screen, wait, broker: configuration.broker, isASCII: isASCII).run()
    }
}
