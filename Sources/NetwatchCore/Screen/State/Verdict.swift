import ReachabilityCore

/// The contents of the header: the status, its start, and its reasons.
struct Verdict: Sendable {
    /// The newest change; nil until the first.
    private(set) var change: ReachabilityChange?
    /// Why, as was found out after the newest change.
    private(set) var why: [Sentence] = []
    /// The newest report of validation; it may be about an earlier path.
    private(set) var report: ValidationSummary?
    /// Since when the state is what it is.
    private(set) var since: Instant
    private(set) var sinceTime: LocalTime

    init(_ clock: ViewClock) {
        since = clock.elapsed
        sinceTime = .init(clock.now)
    }

    /// The state.
    var status: ReachabilityStatus { change?.status ?? .unknown }

    /// The path; without any until the first change.
    var path: NetworkPath { change?.path ?? .init(status: .unknown, reasons: [.reading]) }

    /// Takes a change.
    ///
    /// - Returns: Whether the status changed.
    mutating func take(_ new: ReachabilityChange, _ clock: ViewClock) -> Bool {
        let isFirst = change == nil
        let isAnother = isFirst || new.status != status
        change = new
        // With another path in the same state, the sentence stays until the next diagnosis, which follows soon.
        if isAnother { (since, sinceTime, why) = (clock.elapsed, .init(clock.now), []) }
        return isAnother
    }

    /// Notes that the state has lasted longer than it was monitored here.
    mutating func extend(since start: Instant, _ time: LocalTime) { (since, sinceTime) = (start, time) }

    /// Takes a report of validation; nil if there is none any more.
    mutating func take(_ report: ValidationSummary?) { self.report = report }

    /// The report about the current path; nil if validation is off, or there is none yet.
    var validation: ValidationSummary? {
        guard let report, status.isReachable, report.isAbout(path) else { return nil }
        return report
    }

    /// Takes what was found out.
    mutating func explain(_ sentences: [Sentence]) { why = sentences }

    /// The sentence that is shown, if there is anything to say.
    ///
    /// Until the diagnosis is made, the meaning of the first reason is shown.
    var sentence: Sentence? {
        if let validation, let fix = ValidationWords.sentence(validation)?.fix {
            return .init(ValidationWords.line(validation, status), fix: fix)
        }
        if let first = why.first { return first }
        guard !status.isReachable, let reason = path.reasons.first else { return nil }
        return .init(reason.meaning, fix: reason.fix?.filled(path.interface?.name))
    }
}

extension String {
    /// A fix with quotation marks instead of its document's, and with the interface's name.
    package func filled(_ interface: String?) -> String {
        split(separator: " ", omittingEmptySubsequences: false).map { word in
            let bare = word == "NAME" ? interface?.shellWord ?? "NAME" : String(word)
            return String(bare.map { $0 == "`" ? "'" : $0 })
        }.joined(separator: " ")
    }
}
