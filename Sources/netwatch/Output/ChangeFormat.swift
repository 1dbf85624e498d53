import NetwatchCore
import ReachabilityCore

/// How a command prints notices.
enum ChangeFormat: Hashable {
    /// For people, with local time.
    case text
    /// JSON lines, version 1.
    case json
    /// The same with `by`, how each interface's kind is known.
    case detailedJSON
    /// As the user's template has it, with local time.
    case template(LineTemplate)

    /// Whether times are local.
    var isForPeople: Bool {
        switch self {
        case .text, .template: true
        case .json, .detailedJSON: false
        }
    }

    /// One notice as a line, with the line feed.
    func line(_ change: StateChange, at time: Timestamp) -> [UInt8] {
        var line = ChangeLine(self)
        line.set(change, at: time)
        return line.bytes
    }
}
