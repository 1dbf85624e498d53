import ReachabilityCore

/// Words for how available the network was.
struct AvailabilityWords {
    private let now: Instant

    init(_ now: Instant) { self.now = now }

    /// Statements, the most important first.
    func statements(_ sum: Availability) -> [String] {
        guard let share = sum.share else { return ["nothing known yet"] }
        var statements = ["\(Self.percent(share)) available", outages(sum)]
        if sum.isOut { statements.append("going on for \(DurationText.age(sum.newest))") }
        if sum.outages > 1 { statements.append("longest \(DurationText.length(sum.longest))") }
        if !sum.isOut, let end = sum.lastEnd {
            statements.append("last ended \(DurationText.age(end.duration(to: now))) ago")
        }
        if sum.unknown >= .seconds(1) { statements.append("\(DurationText.length(sum.unknown)) unknown") }
        return statements
    }

    /// `100 %`, `99.98 %`.
    static func percent(_ share: Int) -> String {
        if share % 100 == 0 { return "\(share / 100) %" }
        let digits = share % 100
        return "\(share / 100).\(digits < 10 ? "0" : "")\(digits) %"
    }

    private func outages(_ sum: Availability) -> String {
        switch sum.outages {
        case 0: "no outage"
        case 1 where sum.isOut: "1 outage"
        case 1: "1 outage, \(DurationText.length(sum.down))"
        default: "\(sum.outages) outages, \(DurationText.length(sum.down)) in all"
        }
    }
}
