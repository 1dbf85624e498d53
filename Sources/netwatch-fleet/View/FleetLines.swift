import CommandLineSupport
import FleetCore
import LinuxSystem
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// Prints a line for each machine whose condition changes, at first for each one.
struct FleetLines {
    let isJSON: Bool
    private var changes = FleetChanges()
    private var printed: [NodeKey: Condition] = [:]

    /// The values whose change makes another line of a machine.
    private struct Condition: Equatable {
        let presence: Presence
        let state: ReachabilityStatus
        let path: NodePath?
        let verdict: ValidationVerdict?
        let cause: SilenceCause?
        let isFlapping: Bool

        init(_ status: NodeStatus) {
            (presence, state, path, isFlapping) = (status.presence, status.lastState, status.path, status.isFlapping)
            cause = status.silence?.cause
            verdict = status.validation?.verdict
        }
    }

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Returns the lines for what has changed since the last time.
    mutating func text(of viewer: FleetViewer) -> String {
        let now = SystemClock.wall
        var text = ""
        for status in viewer.withModel({ changes.take(from: &$0) }) where viewer.configuration.filter.matches(status) {
            let condition = Condition(status)
            guard printed[status.key] != condition else { continue }
            printed[status.key] = condition
            text += (isJSON ? status.json(at: now) : line(status, at: now)) + "\n"
        }
        return text
    }

    /// `2026-11-23T02:00:00.000000+01:00 site-3/pump-7 silent notReachable through eth0: no path`.
    private func line(_ status: NodeStatus, at now: Timestamp) -> String {
        var clock = TimestampText.local
        var words = [clock.text(now), status.key.description.escapedForTerminal, status.presence.rawValue]
        words.append(status.lastState.name)
        if let path = status.path { words.append("through \(path.interface.escapedForTerminal)") }
        let why = status.whyWords
        return words.joined(separator: " ") + (why.isEmpty ? "" : ": \(why.escapedForTerminal)")
    }
}
