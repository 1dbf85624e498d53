package import ReachabilityCore
import ValidationCore

/// Pairs the changes of the path with the reports about it: both come from processes of their own, in any order.
///
/// A report counts only for the path that it is about.
package struct ValidationTracker: Sendable {
    private var change: ReachabilityChange?
    private var report: ValidationSummary?
    /// The verdict on the current path that was told last.
    private var toldVerdict = ValidationVerdict.notChecked
    private var count: UInt64 = 0

    /// Creates a tracker without a path or a report.
    package init() {}

    /// The report about the current path; nil if there is none yet.
    package var current: ValidationSummary? {
        guard let report, let path = change.map(\.path), report.isAbout(path) else { return nil }
        return report
    }

    /// Takes a change.
    ///
    /// - Returns: What is told: the change, and then the verdict, if the report about the new path was there before it.
    package mutating func take(_ change: ReachabilityChange) -> [ValidatedChange] {
        if ValidationPath(change.path) != self.change.flatMap({ ValidationPath($0.path) }) { toldVerdict = .notChecked }
        self.change = change
        return [told(change, isOfValidation: false)] + (verdictChange().map { [$0] } ?? [])
    }

    /// Takes a report, or that there is none any more.
    ///
    /// - Returns: The change to tell; nil if the verdict on the current path is the one that was told last.
    package mutating func take(_ report: ValidationSummary?) -> ValidatedChange? {
        self.report = report
        return verdictChange()
    }

    private mutating func verdictChange() -> ValidatedChange? {
        guard let change, let verdict = current?.verdict, verdict != toldVerdict else { return nil }
        toldVerdict = verdict
        let event = ReachabilityChange(
            event: .change,
            status: change.status,
            previous: change.status,
            path: change.path,
            reasons: [],
            sequence: change.sequence
        )
        return told(event, isOfValidation: true)
    }

    private mutating func told(_ change: ReachabilityChange, isOfValidation: Bool) -> ValidatedChange {
        count += 1
        var change = change
        change.sequence = count
        return .init(change: change, validation: current, isOfValidation: isOfValidation)
    }
}

/// A change, with the report about its path.
package struct ValidatedChange: Sendable {
    /// The change.
    package var change: ReachabilityChange
    /// Whether only the verdict has changed.
    package var isOfValidation: Bool
    private let report: Report

    /// A report in memory of its own: it is large, and most changes have none.
    private indirect enum Report {
        case none
        case summary(ValidationSummary)

        var summary: ValidationSummary? {
            if case .summary(let summary) = self { summary } else { nil }
        }
    }

    /// Creates a value.
    package init(change: ReachabilityChange, validation: ValidationSummary? = nil, isOfValidation: Bool = false) {
        self.change = change
        self.isOfValidation = isOfValidation
        report = validation.map { .summary($0) } ?? .none
    }

    /// The report about its path; nil if validation is off, or there is none yet.
    package var validation: ValidationSummary? { report.summary }

    /// The event as JSON and templates name it.
    package var eventName: String { isOfValidation ? "validation" : change.event.rawValue }
}

extension ValidationSummary {
    /// Returns whether the report is about a path: another one has to be validated again.
    package func isAbout(_ path: NetworkPath) -> Bool { self.path != nil && self.path == ValidationPath(path) }
}
