import EventCore
package import NetwatchCore
import ReachabilityCore
import ValidationCore

extension NodeStatus {
    /// The machine as one line of JSON, without a line feed; docs/fleet.md describes the members.
    package func json(at now: Timestamp) -> String {
        let members: [(String, String)] = [
            ("v", "1"), ("time", .time(now)), ("group", .quoted(key.group)), ("node", .quoted(key.name)),
            ("labels", .object(labels)),
            ("link", .quoted(presence.rawValue)), ("state", .quoted(state.name)),
            ("lastState", .quoted(lastState.name)),
            ("since", .time(since)), ("path", path.map(\.json) ?? .null),
            ("reasons", .array(reasons.map(String.quoted))),
            ("availability", .share(availability)), ("uncovered", .seconds(uncovered)), ("outages", "\(outages)"),
            ("flapping", "\(isFlapping)"), ("lastSeen", .time(lastSeen)), ("backlog", "\(backlog)"),
            ("lost", "\(lost)"),
            ("why", .quoted(why)), ("silence", silence.map(\.json) ?? .null),
            ("event", newest.map { .quoted($0.description) } ?? .null), ("expected", "\(isExpected)"),
        ]
        return JSONObject(members + (validation.map { [("validation", $0.json)] } ?? [])).text
    }
}

extension NodeValidation {
    fileprivate var json: String {
        let text = { (text: String?) in text.map(String.quoted) ?? .null }
        return JSONObject([
            ("verdict", .quoted(verdict.name)), ("checked", .time(checkedAt)), ("reason", text(verdict.reason?.name)),
            ("loginURL", text(verdict.portal?.loginURL)), ("venueURL", text(verdict.portal?.venueURL)),
        ]).text
    }
}

extension NodePath {
    fileprivate var json: String {
        JSONObject([
            ("interface", .quoted(interface)), ("kind", .quoted(kind)),
            ("gateway", gateway.map(String.quoted) ?? .null),
        ]).text
    }
}

extension Silence {
    fileprivate var json: String {
        var reasons: [String] = []
        if case .noPath(let names) = cause { reasons = names }
        return JSONObject([
            ("from", .time(start)), ("until", .time(end)), ("why", .quoted(cause.name)),
            ("reasons", .array(reasons.map(String.quoted))),
        ]).text
    }
}

extension FleetBoard {
    /// The numbers as one line of JSON, without a line feed; docs/fleet.md describes the members.
    package func json(at now: Timestamp) -> String {
        let groups = groups.map { JSONObject([("name", .quoted($0.name))] + $0.totals.members).text }
        let members: [(String, String)] = [
            ("v", "1"), ("time", .time(now)), ("groups", .array(groups)), ("bursts", .array(bursts.map(\.json))),
        ]
        return JSONObject(members + totals.members).text
    }
}

extension FleetTotals {
    fileprivate var members: [(String, String)] {
        [
            ("nodes", "\(nodes)"), ("reachable", "\(reachable)"), ("online", "\(online)"), ("silent", "\(silent)"),
            ("unknown", "\(unknown)"), ("neverReported", "\(unheard)"), ("flapping", "\(flapping)"),
            ("outages", "\(outages)"), ("availability", .share(availability)),
        ]
    }
}

extension FleetBurst {
    fileprivate var json: String {
        JSONObject([
            ("name", .quoted(name)), ("silent", "\(count)"), ("of", "\(all)"), ("from", .time(start)),
            ("until", .time(end)),
        ]).text
    }
}

/// An object of JSON, whose values are JSON texts.
private struct JSONObject {
    let text: String

    init(_ members: [(String, String)]) {
        text = "{" + members.map { "\(String.quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }
}

/// Values as JSON texts.
extension String {
    fileprivate static let null = "null"

    fileprivate static func quoted(_ text: String) -> String { "\"\(text.escapedForJSONAndTerminal)\"" }

    fileprivate static func time(_ time: Timestamp?) -> String { time.map { quoted($0.text) } ?? null }

    fileprivate static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }

    fileprivate static func object(_ members: [String: String]) -> String {
        JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, quoted($0.value)) }).text
    }

    /// A share of 1 from hundredths of a per cent: `0.9987`.
    fileprivate static func share(_ share: Int?) -> String {
        guard let share else { return null }
        return share >= 10_000 ? "1" : "0." + String(10_000 + share).dropFirst()
    }

    /// Whole seconds.
    fileprivate static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds)" }
}
