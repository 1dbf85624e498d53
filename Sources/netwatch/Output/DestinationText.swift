import CommandLineSupport
import NetwatchCore
import Reachability
import ReachabilityCore

/// Explains the kernel's way to one destination.
enum DestinationText {
    /// A few lines, the first of which names the destination and the state.
    static func lines(_ path: DestinationPath, names: InterfaceNames) -> [String] {
        var lines = ["\(path.destination): \(path.status.name)"]
        switch path.outcome {
        case .selected(let selection):
            lines.append("  the kernel's route: " + RouteText.selection(selection, names: names, isFromModel: false))
        case .refused(let errno, _):
            lines.append("  the kernel refuses: \(SystemError(code: errno))")
        }
        if let interface = path.interface, path.status.isReachable, path.carriers != [interface] {
            let carriers = path.carriers.map(ChangeText.named).joined(separator: " and ")
            lines.append(
                "  \(ChangeText.named(interface)) is carried by \(carriers.isEmpty ? "nothing known" : carriers)"
            )
        }
        return lines + ReasonText.lines(path.reasons, interface: path.interface?.name, indentation: "  ")
    }
}
