/// How progress is shown.
enum ProgressStyle: Hashable {
    /// Not at all.
    case none
    /// On one line that is drawn over again.
    case redrawn
    /// A line now and then, where a terminal can't do more than write one below the other.
    case lines

    /// What suits where it is written.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether that is a terminal.
    ///   - type: What the terminal calls itself (TERM; see environ(7)).
    init(isTerminal: Bool, type: String?) {
        switch type {
        case _ where !isTerminal: self = .none
        case nil, "", "dumb": self = .lines
        default: self = .redrawn
        }
    }

    /// How long to wait after what was shown.
    var interval: Duration {
        switch self {
        case .none: .seconds(86_400)
        case .redrawn: .milliseconds(100)
        case .lines: .seconds(10)
        }
    }
}
