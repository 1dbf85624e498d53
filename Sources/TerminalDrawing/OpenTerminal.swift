package import CommandLineSupport
import Glibc
import LinuxSystem

/// The terminal of stdout, open for a view.
package struct OpenTerminal {
    /// The terminal.
    package let device: TerminalDevice
    /// Its screen; to be left before the program ends.
    package let screen: CursesScreen
    /// The signals that views wait for.
    package let signals: SignalDescriptor
    /// Whether it shows only ASCII.
    package let isASCII: Bool

    /// Opens the terminal and takes its screen over.
    ///
    /// Call it before there is a second thread, which inherits the blocked signals.
    ///
    /// - Parameter isColored: Whether colors are wanted, by the value of `NO_COLOR`.
    /// - Throws: Why this terminal cannot show a view; its settings and the signals are as before then.
    package init(isColored: (_ noColor: String?) -> Bool) throws(TerminalUnfit) {
        isASCII = !TerminalFitness.hasUnicode()
        let type = try TerminalFitness.type(Self.variable("TERM"))
        do throws(SystemError) {
            device = try .init()
            signals = try .init(TerminalWait.usualSignals)
        } catch {
            throw .init("this terminal cannot be read: \(error)")
        }
        do throws(TerminalUnfit) {
            screen = try .init(device, type: type, isColored: isColored(Self.variable("NO_COLOR")), isASCII: isASCII)
        } catch {
            signals.unblock()
            throw error
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
