import CommandLineSupport
import EventServer
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// Turns the monitor's changes, and those of the verdict on the path, into events.
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
        /// The newest report of the validator, whichever path it is about.
        var report: ValidationSummary?
        /// The verdict in the newest event; nil if it has none, or none but that nothing is known.
        var verdict: ValidationVerdict?

        /// The newest report, if it is about the path of the newest event.
        var validation: ValidationSummary? {
            guard let newest, let report, let path = ValidationPath(newest.path), let checked = report.path else {
                return nil
            }
            return path.isSame(as: checked) ? report : nil
        }

        /// Makes the newest change one that changes nothing, with the next number.
        mutating func repeatNewest() {
            guard let last = newest else { return }
            sequence += 1
            newest = .init(
                event: .change,
                status: last.status,
                previous: last.status,
                path: last.path,
                reasons: [],
                sequence: sequence
            )
        }
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
        let (numbered, validation, isServing) = progress.withLock { progress in
            progress.sequence += 1
            var numbered = change
            numbered.sequence = progress.sequence
            progress.newest = numbered
            let validation = progress.validation
            progress.verdict = validation?.verdict.known
            return (numbered, validation, progress.isServing)
        }
        server.publish(Self.event(of: numbered, at: SystemClock.wall, validation))
        if isServing { report.tell(numbered) }
        wakeup.signal()
    }

    /// Takes a report of the validator: publishes an event if the verdict on the path differs from that of the newest event.
    ///
    /// - Parameter report: The report; nil if there are none any more, so that nothing is known.
    func take(_ report: ValidationSummary?) {
        let now = SystemClock.wall
        let (change, validation, isVerdict) = progress.withLock { progress in
            progress.report = report ?? progress.report.map { .init(verdict: .notChecked, since: now, path: $0.path) }
            let (validation, old) = (progress.validation, progress.verdict)
            progress.verdict = validation?.verdict.known
            let isVerdict = progress.verdict != old
            if isVerdict { progress.repeatNewest() }
            return (progress.newest, validation, isVerdict)
        }
        guard let change else { return }
        let event = Self.event(of: change, at: now, validation, isVerdict: isVerdict)
        if isVerdict { server.publish(event) } else { server.replaceNewest(event) }
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

    /// Returns the event about a change, or about a verdict on the path of the newest change.
    static func event(
        of change: ReachabilityChange,
        at time: Timestamp,
        _ validation: ValidationSummary? = nil,
        isVerdict: Bool = false
    ) -> PublishedEvent {
        let event = ValidatedChange(change: change, validation: validation, isOfValidation: isVerdict)
        let state = ValidatedChange(change: state(after: change), validation: validation)
        return .init(
            change: change,
            time: time,
            line: ChangeFormat.json.line(event, at: time),
            state: ChangeFormat.json.line(state, at: time),
            detailedState: ChangeFormat.detailedJSON.line(state, at: time),
            validation: validation,
            isVerdict: isVerdict
        )
    }

    /// Returns the line of the state after an event, with the details of Wi-Fi radios.
    static func detailedState(after event: PublishedEvent, _ details: [WiFiDetails]) -> [UInt8] {
        var state = state(after: event.change)
        state.path.wifi = details.filter { state.path.carriers.contains($0.interface) }
        return ChangeFormat.detailedJSON.line(.init(change: state, validation: event.validation), at: event.time)
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

extension ValidationVerdict {
    /// The verdict; nil if nothing is known.
    fileprivate var known: Self? { self == .notChecked ? nil : self }
}

extension ValidationPath {
    /// Whether a verdict on one is one on the other: all but whether it is metered, which may be declared.
    fileprivate func isSame(as other: Self) -> Bool {
        interface == other.interface && gateways == other.gateways && networks == other.networks
    }
}
