import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox
import ReachabilityCore

/// Shows on a terminal, and to a service manager, how far the sending is.
struct SendingDisplay {
    let report: ServiceNotices
    private let isTerminal = isatty(STDERR_FILENO) == 1 && !["", "dumb"].contains(Self.terminal)
    private var shown = ""
    private var samples: [(time: Instant, delivered: Int)] = []

    init(report: ServiceNotices) { self.report = report }

    private static var terminal: String { getenv("TERM").map { String(cString: $0) } ?? "" }

    /// The time after which the contents are looked at again.
    var interval: Duration { min(isTerminal ? .seconds(1) : .seconds(3_600), report.interval ?? .seconds(3_600)) }

    /// Shows the contents.
    mutating func show(_ contents: SendingWork.Contents) {
        let delivered = contents.statistics.ended[.delivered] ?? 0
        let now = SystemClock.now
        samples.append((now, delivered))
        while samples.count > 2, samples[1].time.advanced(by: .seconds(3)) <= now { samples.removeFirst() }
        let line = SendingText.line(contents, rate: rate)
        report.tell(line)
        guard isTerminal, line != shown else { return }
        shown = line
        // EL, ECMA-48: clears up to the line's end.
        try? LineOutput.standardError.write("\r\(line)\u{1B}[K")
    }

    /// Moves to the next line, and reports the end.
    mutating func end() {
        if isTerminal, !shown.isEmpty { try? LineOutput.standardError.write("\n") }
        report.end()
    }

    /// The items that were delivered per second, in the last seconds.
    private var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        let seconds = Double(last.time.nanoseconds - first.time.nanoseconds) / 1e9
        return Double(last.delivered - first.delivered) / seconds
    }
}

/// The contents of an outbox in one line.
enum SendingText {
    static func line(_ contents: SendingWork.Contents, rate: Double?) -> String {
        let statistics = contents.statistics
        let parts = [
            "\(statistics.items) waiting, \(QuantityText.bytes(Int(statistics.bytes)))",
            rate.flatMap { $0 >= 0.5 ? "\(Int($0.rounded())) delivered/s" : nil }, paused(contents.pausedLanes),
        ]
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    private static func paused(_ paused: [LaneSummary]) -> String? {
        guard let first = paused.first else { return nil }
        let more = paused.count > 1 ? " (and \(paused.count - 1) more)" : ""
        return "\(first.lane.name.escapedForTerminal) \(first.state)\(more)"
    }
}

/// Messages to the service manager that started the tool: readiness, keep-alives and the state (sd_notify(3)).
final class ServiceNotices {
    private let manager: ServiceManager?
    private var isReady = false

    init(_ invitation: ServiceManager.Invitation?) {
        do throws(SystemError) {
            manager = try invitation.map { (invitation) throws(SystemError) in
                try .init(socket: invitation.socket, watchdogInterval: invitation.watchdogInterval)
            }
        } catch {
            manager = nil
            try? LineOutput.standardError.write("netwatch: the service manager can't be told: \(error)\n")
        }
    }

    /// The time after which a keep-alive is due: a third of the watchdog's; nil without one.
    var interval: Duration? { manager?.watchdogInterval.map { $0 / 3 } }

    /// Reports the state; that it could be read is the proof that the storage does not hang.
    func tell(_ state: String) {
        try? manager?.tell((isReady ? [] : ["READY=1"]) + ["WATCHDOG=1", "STATUS=\(state)"])
        isReady = true
    }

    /// Reports the end.
    func end() { try? manager?.tell(["STOPPING=1"]) }
}
