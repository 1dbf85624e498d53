import CommandLineSupport
import EventServer
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore

/// Turns the monitor's changes into events.
///
/// Its functions are called on the monitor's event thread only, one at a time.
final class EventPublisher: Sendable {
    private let server: EventServer
    private let report: ServiceReport
    private let wakeup: Wakeup
    private let progress = Lock(Progress())

    private struct Progress {
        var sequence: UInt64 = 0
        var newest: ReachabilityChange?
        var isServing = false
    }

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - server: The server of the events.
    ///   - report: The report to the service manager.
    ///   - wakeup: Signalled after each event.
    init(server: EventServer, report: ServiceReport, wakeup: Wakeup) {
        self.server = server
        self.report = report
        self.wakeup = wakeup
    }

    /// Whether a state was published: a known one, or that none can be known.
    var hasState: Bool {
        progress.withLock { $0.newest.map { $0.status != .unknown || $0.event == .error } ?? false }
    }

    /// Publishes a change.
    func publish(_ change: ReachabilityChange) {
        let (numbered, isServing) = progress.withLock { progress in
            progress.sequence += 1
            var numbered = change
            numbered.sequence = progress.sequence
            progress.newest = numbered
            return (numbered, progress.isServing)
        }
        server.publish(Self.event(of: numbered, at: SystemClock.wall))
        if isServing { report.tell(numbered) }
        wakeup.signal()
    }

    /// Publishes that the state is not known, if no change has been published.
    func publishUnknownIfNeeded() {
        if progress.withLock({ $0.newest == nil }) { publish(.unread) }
    }

    /// Reports that connections are accepted from now on.
    func beginServing() {
        let newest = progress.withLock { progress in
            progress.isServing = true
            return progress.newest
        }
        if let newest { report.tell(newest) }
    }

    static func event(of change: ReachabilityChange, at time: Timestamp) -> PublishedEvent {
        let state = state(after: change)
        return .init(
            change: change,
            time: time,
            line: ChangeFormat.json.line(change, at: time),
            state: ChangeFormat.json.line(state, at: time),
            detailedState: ChangeFormat.detailedJSON.line(state, at: time)
        )
    }

    /// Returns the line of the state after an event, with the details of Wi-Fi radios.
    static func detailedState(after event: PublishedEvent, _ details: [WiFiDetails]) -> [UInt8] {
        var state = state(after: event.change)
        state.path.wifi = details.filter { state.path.carriers.contains($0.interface) }
        return ChangeFormat.detailedJSON.line(state, at: event.time)
    }

    private static func state(after change: ReachabilityChange) -> ReachabilityChange {
        .init(
            event: .state,
            status: change.status,
            previous: nil,
            path: change.path,
            reasons: change.status == .unknown ? change.reasons : [.initial],
            sequence: change.sequence
        )
    }
}
