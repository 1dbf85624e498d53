import EventCore
import NetwatchCore
import ReachabilityCore
import ValidationCore

extension EventPage {
    /// The state, since when, the path, and why.
    var stateSection: HTML {
        """
        <section class="state" aria-labelledby="state-title"><div id="state" class="live \(change.status.name)">
        <h1 id="state-title">\(StatusMark.labelled(change.status))</h1>
        <div>\(since)\(path)\(verdict)\(why)</div>
        </div></section>

        """
    }

    private var since: HTML? {
        guard let since = history.since else { return nil }
        let start = PageTime(nanosecondsSince1970: since.since1970)
        return """
            <p class="since">since \(start.markup(at: time))<span class="zone"> UTC</span>, for \
            <span data-since="\(start.text)">\(length(from: since.sinceBoot, to: now.sinceBoot))</span></p>
            """
    }

    private var path: HTML? {
        let words = PathWords(glyphs: .init(isASCII: false))
        let text = words.path(change.path)
        guard !text.isEmpty else { return nil }
        let notes = [(change.path.isExpensive, "metered"), (change.path.isConstrained, "to be used sparingly")]
        let tags = notes.filter(\.0).map { " <span class=\"tag\">\($0.1)</span>" as HTML }
        return "<p class=\"path\">\(text)\(HTML(tags))</p>"
    }

    /// The verdict on the path, if paths are validated and something is known of this one.
    private var verdict: HTML? {
        guard let report = history.validation else { return nil }
        let checked = report.checkedAt.map { time in
            PageTime(nanosecondsSince1970: time.nanosecondsSinceEpoch).markup(at: self.time)
        }
        let age: HTML? = checked.map { ", checked \($0)<span class=\"zone\"> UTC</span>" }
        switch report.verdict {
        case .validated: return "<p class=\"since\">leads to the internet\(age)</p>"
        case .notChecked: return "<p class=\"since\">not checked whether it leads to the internet</p>"
        case .noInternet: return "<p class=\"why\">\(report.verdict.words.escapedForTerminal)\(age)</p>"
        case .portal(let portal):
            let page = portal.page.map { " at \(PortalLink(url: $0).markup)" as HTML }
            return "<p class=\"why\">a portal asks for a login\(page)\(age)</p>"
        }
    }

    private var why: HTML? {
        guard let sentence = network.why.first ?? plainReason else { return nil }
        let fix: HTML? = sentence.fix.map { "<p class=\"fix\"><b>Fix</b> \($0)</p>" }
        return "<p class=\"why\">\(sentence.text)</p>\(fix)"
    }

    /// The meaning of the first reason, where there is no diagnosis.
    private var plainReason: Sentence? {
        guard !change.status.isReachable, let reason = change.path.reasons.first else { return nil }
        return .init(reason.meaning.withoutCodeMarks, fix: reason.fix?.filled(change.path.interface?.name))
    }

    /// The time between two moments, in nanoseconds since boot, in words.
    func length(from start: Int64, to end: Int64) -> String { DurationText.length(.nanoseconds(max(0, end - start))) }
}

// MARK: - Tables

extension EventPage {
    /// The table of interfaces.
    var linksSection: HTML {
        let rows = HTML(network.interfaces.map(row))
        let empty: HTML? = network.interfaces.isEmpty ? "<p class=\"none\">The interfaces are not known.</p>" : nil
        return """
            <section id="links" aria-labelledby="links-title"><h2 id="links-title">Links</h2>
            <div class="scroll"><table role="table" aria-labelledby="links-title" class="links">
            <thead role="rowgroup"><tr role="row">\(Self.headings(["Name", "State", "Addresses", "Default routes (metric)"]))\
            </tr></thead>
            <tbody role="rowgroup" id="links-rows" class="live">\(rows)</tbody></table></div>\(empty)</section>

            """
    }

    private func row(_ link: InterfaceRow) -> HTML {
        """
        <tr role="row" class="\(link.role.name)"><th role="rowheader" scope="row">\(link.name) \
        <span class="kind">\(link.kind.rawValue)\(Self.note(link.role))</span></th>\
        <td role="cell" class="link-state \(link.condition.name)">\(link.condition.word)</td>\
        <td role="cell">\(Self.lines(link.addresses))</td><td role="cell">\(Self.lines(link.routes))</td></tr>

        """
    }

    /// The outages, the newest first.
    var outagesSection: HTML {
        let rows = HTML(history.outages.reversed().prefix(Self.shownOutages).map(row))
        let empty: HTML =
            history.outages.isEmpty
            ? "<tr role=\"row\"><td role=\"cell\" colspan=\"3\" class=\"none\">None since the service started.</td></tr>"
            : ""
        return """
            <section id="outages" aria-labelledby="outages-title"><h2 id="outages-title">Outages</h2>
            <div class="scroll"><table role="table" aria-labelledby="outages-title">
            <thead role="rowgroup"><tr role="row">\(Self.headings(["Start", "Length", "Reasons"], zone: true))</tr></thead>
            <tbody role="rowgroup" id="outages-rows" class="live">\(rows)\(empty)</tbody></table></div></section>

            """
    }

    private func row(_ outage: PageHistory.Outage) -> HTML {
        let start = PageTime(nanosecondsSince1970: outage.start.since1970)
        let length = length(from: outage.start.sinceBoot, to: outage.end ?? now.sinceBoot)
        let text: HTML =
            outage.end == nil ? "<b><span data-since=\"\(start.text)\">\(length)</span> so far</b>" : "\(length)"
        return """
            <tr role="row"><td role="cell">\(start.markup(at: time))</td><td role="cell">\(text)</td>\
            <td role="cell">\(Self.reasons(outage.reasons))</td></tr>

            """
    }

    /// The stored past, which the script fetches.
    var historySection: HTML {
        """
        <section id="history" aria-labelledby="history-title" hidden><h2 id="history-title">History</h2>
        <div class="scroll"><table role="table" aria-labelledby="history-title">
        <thead role="rowgroup"><tr role="row">\(Self.headings(["Day", "Available", "Outages", "Without network"]))</tr></thead>
        <tbody role="rowgroup" id="history-rows"></tbody></table></div></section>

        """
    }

    /// The changes, the newest first.
    var logSection: HTML {
        """
        <section id="log" aria-labelledby="log-title" tabindex="-1"><h2 id="log-title">Log</h2>
        <p class="filter" hidden><label>Filter <input id="filter" type="search" autocomplete="off" spellcheck="false">\
        </label> <span id="filter-count" role="status"></span></p>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="log-title">\
        <table role="table" aria-labelledby="log-title" class="log">
        <thead role="rowgroup"><tr role="row">\(Self.headings(["Time", "State", "Reasons and path"], zone: true))</tr></thead>
        <tbody role="rowgroup" id="log-rows" class="live">\(HTML(history.entries.reversed().map(row)))</tbody></table></div>
        </section>

        """
    }

    private func row(_ entry: PageHistory.Entry) -> HTML {
        let moment = PageTime(nanosecondsSince1970: entry.moment.since1970)
        let change = entry.change
        let isPlain = change.event == .state || change.event == .change
        let kind = entry.verdict.map { "validation: \($0.words)" } ?? (isPlain ? nil : change.event.rawValue)
        let event: HTML? = kind.map { "<span class=\"tag\">\($0.escapedForTerminal)</span> " }
        let words = PathWords(glyphs: .init(isASCII: false)).path(change.path)
        let path: HTML? = words.isEmpty ? nil : "<span class=\"path\">\(words)</span>"
        return """
            <tr role="row"><td role="cell">\(moment.markup(at: time, isPrecise: true))</td>\
            <td role="cell" class="status \(change.status.name)">\(StatusMark.labelled(change.status))</td>\
            <td role="cell">\(event)\(Self.reasons(change.allReasons))\(path)</td></tr>

            """
    }

    private static let shownOutages = 10

    private static func headings(_ titles: [String], zone: Bool = false) -> HTML {
        HTML(
            titles.enumerated().map { position, title in
                let zone: HTML? = zone && position == 0 ? "<span class=\"zone\"> UTC</span>" : nil
                return "<th role=\"columnheader\" scope=\"col\">\(title)\(zone)</th>"
            }
        )
    }

    private static func reasons(_ reasons: [ReachabilityReason]) -> HTML {
        HTML(
            reasons.map { "<span class=\"reason\" title=\"\($0.meaning.withoutCodeMarks)\">\($0.rawValue)</span> " }
        )
    }

    private static func lines(_ texts: [String]) -> HTML { HTML(texts.map { "<span class=\"line\">\($0)</span>" }) }

    private static func note(_ role: InterfaceRow.Role) -> HTML? {
        switch role {
        case .path: ", <b>path</b>"
        case .carrier: ", <b>carries the path</b>"
        case .candidate, .usable, .waiting, .off, .loopback: nil
        }
    }
}

extension InterfaceRow.Role {
    /// The name of the class of a row.
    fileprivate var name: String { self == .path || self == .carrier ? "in-path" : "other" }
}

extension LinkSign {
    /// The name of the class of the condition.
    fileprivate var name: String {
        switch self {
        case .up: "good"
        case .dormant, .associating: "waiting"
        case .noCarrier, .absent: "bad"
        case .monitoring, .down: "off"
        }
    }
}

extension String {
    /// The text without the marks that its document has around code.
    fileprivate var withoutCodeMarks: String { String(map { $0 == "`" ? "'" : $0 }) }
}
