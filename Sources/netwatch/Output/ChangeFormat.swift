import ReachabilityCore

/// How a command prints notices.
enum ChangeFormat {
    /// For people, with local time.
    case text
    /// JSON lines, version 1.
    case json
    /// The same with `by`, how each interface's kind is known.
    case detailedJSON

    /// One notice as a line, with the line feed.
    func line(_ change: StateChange, at time: Timestamp) -> [UInt8] {
        var line = ChangeLine(self)
        line.set(change, at: time)
        return line.bytes
    }
}
