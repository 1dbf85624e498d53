import CommandLineSupport
import Glibc
import LinuxSystem
import TerminalDrawing

/// Shows the table on the terminal of stdout, or says why this terminal cannot.
enum FleetTerminal {
    /// The outcome.
    enum Outcome {
        /// It was shown, and the tool ends so.
        case shown(ExitStatus)
        /// The terminal cannot show it.
        case unfit(TerminalUnfit)
    }

    /// Shows it until it is left.
    static func show(
        _ configuration: FleetSession.Configuration,
        listen: LoopbackAddress?
    ) throws(ToolError) -> Outcome {
        let isASCII = !TerminalFitness.hasUnicode()
        let device: TerminalDevice
        let signals: SignalDescriptor
        let screen: CursesScreen
        let type: String
        do throws(TerminalUnfit) { type = try TerminalFitness.type(variable("TERM")) } catch { return .unfit(error) }
        do throws(SystemError) {
            device = try .init()
            // Before there is a second thread, which inherits the blocked signals.
            signals = try .init(TerminalWait.usualSignals)
        } catch {
            return .unfit(.init("this terminal cannot be read: \(error)"))
        }
        do throws(TerminalUnfit) {
            let isColored = variable("NO_COLOR").map(\.isEmpty) ?? true
            screen = try .init(device, type: type, isColored: isColored, isASCII: isASCII)
        } catch {
            signals.unblock()
            return .unfit(error)
        }
        // Also where the store can't be opened: what is said of that is not for a screen that goes away.
        defer { screen.leave() }
        let session = try FleetSession(configuration, listen: listen)
        defer { session.stop() }
        let wait = TerminalWait(signals: signals, wakeup: session.viewer.wakeup, device: device)
        let shell = FleetShell(session, screen, wait, broker: configuration.broker, isASCII: isASCII)
        return .shown(try shell.run())
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
