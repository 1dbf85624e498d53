package import NetwatchCore
package import ReachabilityCore
import ValidationCore

/// The counters of the service, and their text in the format of Prometheus (text format 0.0.4).
///
/// No label has an address or the name of a Wi-Fi network: metrics are read by more people than events are.
package struct EventMetrics: Sendable {
    private var status: ReachabilityStatus?
    private var path: NetworkPath?
    /// When the state began, in seconds since 1970.
    private var since: Double = 0
    /// When the time in states was counted last, in nanoseconds since boot.
    private var counted: Int64 = 0
    /// The counters of this run, as of when the time was counted last.
    private var own = EventTotals()
    /// The counters of earlier runs.
    private var earlier = EventTotals()
    /// Whether paths are validated.
    private let validates: Bool
    /// The newest report about the current path; nil if there is none.
    package var validation: ValidationSummary?

    /// Creates counters at 0.
    ///
    /// - Parameter validates: Whether paths are validated, so that there is a verdict.
    package init(validates: Bool = false) { self.validates = validates }

    /// A moment, by both clocks.
    package struct Moment: Hashable, Sendable {
        /// Nanoseconds since boot, which no setting of the wall clock changes.
        package let sinceBoot: Int64
        /// Nanoseconds since 1970.
        package let since1970: Int64

        /// Creates a moment.
        package init(sinceBoot: Int64, since1970: Int64) {
            self.sinceBoot = sinceBoot
            self.since1970 = since1970
        }
    }

    /// Counts a change.
    package mutating func record(_ change: ReachabilityChange, at now: Moment) {
        count(until: now)
        if change.status != status {
            since = Double(now.since1970) / 1e9
            if change.status == .notReachable { own.outages += 1 }
        }
        status = change.status
        path = change.path
        for reason in change.reasons { own.reasons[reason.rawValue, default: 0] += 1 }
    }

    /// Takes the counters of earlier runs.
    package mutating func restore(_ totals: EventTotals) { earlier = totals }

    /// Returns the counters of this run.
    package func totals(at now: Moment) -> EventTotals {
        var current = self
        current.count(until: now)
        return current.own
    }

    private mutating func count(until now: Moment) {
        if let status { own.nanoseconds[status, default: 0] += max(0, now.sinceBoot - counted) }
        counted = now.sinceBoot
    }

    /// Returns the metrics.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - subscribers: The number of subscribers.
    ///   - journal: Whether events are stored; nil without a journal.
    /// - Returns: The text, which ends with a line feed.
    package func text(at now: Moment, subscribers: Int, journal: JournalHealth? = nil) -> String {
        let all = families(totals(at: now) + earlier, subscribers) + validationFamilies(at: now)
        return (all + (journal.map(Self.families) ?? [])).map(\.text).joined()
    }

    /// The verdict and its age; nothing if paths are not validated.
    private func validationFamilies(at now: Moment) -> [Family] {
        guard validates else { return [] }
        let current = (validation?.verdict ?? .notChecked).name
        let verdicts = ["validated", "portal", "noInternet", "notChecked"].map { name in
            Sample("verdict=\(Self.quoted(name))", name == current ? "1" : "0")
        }
        let age = validation?.checkedAt.map { checked in
            Sample("", "\(Double(max(now.since1970 &- checked.nanosecondsSinceEpoch, 0)) / 1e9)")
        }
        return [
            .init("netwatch_validation", .gauge, "Whether this is the verdict on the current path.", verdicts),
            .init(
                "netwatch_validation_age_seconds",
                .gauge,
                "How long ago the answers were received on which the verdict rests.",
                age.map { [$0] } ?? []
            ),
        ]
    }

    private static func families(_ journal: JournalHealth) -> [Family] {
        [
            .init(
                "netwatch_journal_up",
                .gauge,
                "Whether events are stored in the journal.",
                [.init("", journal.isStoring ? "1" : "0")]
            ),
            .init(
                "netwatch_journal_lost_events_total",
                .counter,
                "The events that were published and could not be stored.",
                [.init("", "\(journal.lost)")]
            ),
        ]
    }

    private func families(_ totals: EventTotals, _ subscribers: Int) -> [Family] {
        [
            .init("netwatch_state", .gauge, "Whether this is the current state.", states { status == $0 ? "1" : "0" }),
            .init(
                "netwatch_state_since_timestamp_seconds",
                .gauge,
                "When the current state began, in seconds since 1970.",
                [.init("", "\(since)")]
            ),
            .init(
                "netwatch_state_seconds_total",
                .counter,
                "The time spent in each state.",
                states { "\(Double(totals.nanoseconds[$0] ?? 0) / 1e9)" }
            ),
            .init(
                "netwatch_outages_total",
                .counter,
                "How often the network became unreachable.",
                [.init("", "\(totals.outages)")]
            ),
            .init(
                "netwatch_changes_total",
                .counter,
                "The changes that had this reason; a change can have several.",
                Self.changes(totals)
            ),
            .init("netwatch_path_info", .gauge, "The default path of each address family.", pathSamples),
            .init(
                "netwatch_subscribers",
                .gauge,
                "The requests that wait for events now.",
                [.init("", "\(subscribers)")]
            ),
        ]
    }

    /// With all reasons from the start: the first change with one would not be an increase of a counter that was missing.
    private static func changes(_ totals: EventTotals) -> [Sample] {
        let none = ReachabilityReason.allCases.map { ($0.rawValue, UInt64(0)) }
        return totals.reasons.merging(none) { counted, _ in counted }.sorted { $0.key < $1.key }
            .map { .init("reason=\(quoted($0.key))", "\($0.value)") }
    }

    private func states(_ value: (ReachabilityStatus) -> String) -> [Sample] {
        ReachabilityStatus.allCases.map { .init("state=\(Self.quoted($0.name))", value($0)) }
    }

    private var pathSamples: [Sample] {
        [("ipv4", path?.ipv4), ("ipv6", path?.ipv6)].compactMap { family, path in
            guard let interface = path?.interface else { return nil }
            let (name, kind) = (Self.quoted(interface.name), Self.quoted(interface.kind.rawValue))
            return .init("family=\"\(family)\",interface=\(name),kind=\(kind)", "1")
        }
    }

    /// Returns the value of a label, with what the format has a meaning for escaped.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": quoted += "\\\\"
            case "\"": quoted += "\\\""
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A line of a metric.
    private struct Sample {
        let labels: String
        let value: String

        init(_ labels: String, _ value: String) {
            self.labels = labels
            self.value = value
        }
    }

    /// A metric with its lines; one without lines is left out.
    private struct Family {
        enum Kind: String {
            case gauge, counter
        }

        let name: String
        let kind: Kind
        let help: String
        let samples: [Sample]

        init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
            self.name = name
            self.kind = kind
            self.help = help
            self.samples = samples
        }

        var text: String {
            guard !samples.isEmpty else { return "" }
            let lines = samples.map { "\(name)\($0.labels.isEmpty ? "" : "{\($0.labels)}") \($0.value)\n" }
            return "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" + lines.joined()
        }
    }
}
