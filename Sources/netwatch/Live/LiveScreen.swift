import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import TerminalDrawing

/// Shows the live view.
enum LiveScreen {
    /// Shows it on a terminal until it is left.
    static func show(_ configuration: LiveConfiguration, on terminal: OpenTerminal) throws(ToolError) -> ExitStatus {
        // Also where the monitor cannot be started: what is said of that is not for a screen that goes away.
        defer { terminal.screen.leave() }
        let wait = TerminalWait(signals: terminal.signals, wakeup: try .open(), device: terminal.device)
        return try LiveShell(configuration, options(configuration, terminal.isASCII), terminal.screen, wait).run()
    }

    private static func options(_ configuration: LiveConfiguration, _ isASCII: Bool) -> LiveViewOptions {
        .init(
            hosts: configuration.hosts.map(\.text),
            namespace: configuration.monitor.namespace.text,
            machine: MachineName.current,
            version: CommandLineProgram.version,
            isASCII: isASCII,
            context: configuration.monitor.evaluationContext
        )
    }
}
