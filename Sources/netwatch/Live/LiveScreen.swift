import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import TerminalDrawing

/// Shows the live view, or says why this terminal cannot.
enum LiveScreen {
    /// The outcome.
    enum Outcome {
        /// It was shown, and the tool ends so.
        case shown(ExitStatus)
        /// The terminal cannot show it.
        case unfit(TerminalUnfit)
    }

    /// Shows it until it is left.
    static func show(_ configuration: LiveConfiguration) throws(ToolError) -> Outcome {
        let isASCII = !TerminalFitness.hasUnicode()
        let device: TerminalDevice
        let screen: CursesScreen
        let signals: SignalDescriptor
        let type: String
        do throws(TerminalUnfit) { type = try TerminalFitness.type(variable("TERM")) } catch { return .unfit(error) }
        do throws(SystemError) {
            device = try .init()
            signals = try .init(TerminalWait.usualSignals)
        } catch {
            return .unfit(.init("this terminal cannot be read: \(error)"))
        }
        let wakeup = try Wakeup.open()
        // A recording that becomes too large for its limit (setrlimit(2)) fails, and does not end the view.
        signal(SIGXFSZ, SIG_IGN)
        do throws(TerminalUnfit) {
            let isColored = configuration.color.isColored(noColor: variable("NO_COLOR"))
            screen = try .init(device, type: type, isColored: isColored, isASCII: isASCII)
        } catch {
            signals.unblock()
            return .unfit(error)
        }
        // Also where the monitor cannot be started: what is said of that is not for a screen that goes away.
        defer { screen.leave() }
        let options = options(configuration, isASCII: isASCII)
        let wait = TerminalWait(signals: signals, wakeup: wakeup, device: device)
        return .shown(try LiveShell(configuration, options, screen, wait).run())
    }

    private static func options(_ configuration: LiveConfiguration, isASCII: Bool) -> LiveViewOptions {
        .init(
            hosts: configuration.hosts.map(\.text),
            namespace: configuration.monitor.namespace.text,
            machine: MachineName.current,
            version: CommandLineProgram.version,
            isASCII: isASCII,
            context: configuration.monitor.evaluationContext
        )
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
