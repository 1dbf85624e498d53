import EventCore
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// Decodes the messages of machines.
///
/// They are those that ``FleetMessage`` makes; members that are not known are ignored.
package struct ReportDecoder: Sendable {
    /// The largest payload that is decoded, in bytes.
    package static let maximumPayload = 65_536

    /// Creates a decoder.
    ///
    /// - Parameter prefix: The first levels of the topics, without a slash at the end.
    package init(prefix: String = "netwatch") { self.prefix = prefix }

    private let prefix: String

    /// The filters of the topics with retained messages, to be read at QoS 0, and of that with events, at QoS 1.
    package var filters: (link: String, state: String, events: String) {
        ("\(prefix)/+/+/link", "\(prefix)/+/+/state", "\(prefix)/+/+/events")
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - topic: The topic that it was received on.
    ///   - payload: The payload; an empty one says that a retained message was removed.
    /// - Returns: The message.
    /// - Throws: ``ReportError`` with the topic and what is wrong.
    package func decode(topic: String, payload: [UInt8]) throws(ReportError) -> NodeReport {
        do {
            let (key, level) = try names(in: topic)
            return .init(key: key, content: try content(payload, level, of: key))
        } catch {
            throw .init(topic: topic, problem: error.problem)
        }
    }

    /// The last level of a topic.
    private enum Level: String { case link, state, events }

    private func names(in topic: String) throws(Problem) -> (NodeKey, Level) {
        let form = "the topic is not '\(prefix.escapedForTerminal)/GROUP/NODE/link', '…/state' or '…/events'"
        guard topic.hasPrefix(prefix + "/") else { throw .init(form) }
        let levels = topic.dropFirst(prefix.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3, let level = Level(rawValue: String(levels[2])) else { throw .init(form) }
        for name in levels.prefix(2) where !(1...ReportBounds.name).contains(name.utf8.count) {
            throw .init("the names of a group and a machine have 1 to \(ReportBounds.name) bytes")
        }
        return (.init(group: String(levels[0]), name: String(levels[1])), level)
    }

    private func content(_ payload: [UInt8], _ level: Level, of key: NodeKey) throws(Problem) -> NodeReport.Content {
        if payload.isEmpty, level != .events { return .removed }
        guard payload.count <= Self.maximumPayload else {
            throw .init("the payload has \(payload.count) bytes; the limit is \(Self.maximumPayload)")
        }
        let message = try ReportObject(parsing: payload)
        if level == .link { return .link(try LinkReport(message, of: key)) }
        let event = try CloudEvent(message, source: "\(prefix)/\(key)")
        if level == .events, event.isGap { return .gap(try GapReport(event)) }
        let report = try EventReport(event)
        return level == .state ? .state(report) : .event(report)
    }
}

/// Why a message cannot be decoded.
package struct ReportError: Error, Hashable, CustomStringConvertible {
    /// The topic, as it was received.
    package let topic: String
    /// The fault.
    package let problem: String

    /// Both in one line that is safe for a terminal.
    package var description: String {
        "cannot read the message on '\(topic.escapedForTerminal)': \(problem.escapedForTerminal)"
    }
}

/// The longest texts, in bytes, and the largest numbers of them that are decoded.
package enum ReportBounds {
    /// The name of a machine, a group or a label.
    package static let name = 128
    /// The value of a label, and any other text.
    package static let text = 128
    /// The labels of a machine.
    package static let labels = 32
    fileprivate static let reasons = 16
    fileprivate static let url = 1024
    /// The longest suspension in seconds, 30 years: longer ones cannot be calculated with.
    fileprivate static let suspension = 1e9
}

extension LinkReport {
    fileprivate init(_ object: ReportObject, of key: NodeKey) throws(Problem) {
        try object.checkVersion()
        for (name, value) in [("group", key.group), ("node", key.name)] {
            let text = try object.text(name)
            guard text == value else { throw .init("'\(name)' is '\(text)', but the topic says '\(value)'") }
        }
        try self.init(
            offline: Self.offline(object),
            session: object.text("session"),
            boot: object.optionalText("boot"),
            time: object.optionalTime("time"),
            keepAlive: object.number("keepAlive", atMost: UInt16.max),
            version: object.text("version"),
            labels: object.texts("labels", atMost: ReportBounds.labels)
        )
    }

    private static func offline(_ object: ReportObject) throws(Problem) -> FleetLink.Reason? {
        let reason = try object.optionalText("reason")
        if try object.boolean("online") {
            guard reason == nil else { throw .init("'online' is true, but there is a 'reason'") }
            return nil
        }
        guard let reason = reason.flatMap(FleetLink.Reason.init) else {
            throw .init("'online' is false, but 'reason' is neither 'lost' nor 'stopped'")
        }
        return reason
    }
}

/// The members of a CloudEvent that are used.
private struct CloudEvent {
    let id: String
    let data: ReportObject
    let kind: String

    var isGap: Bool { kind == "gap" }

    init(_ object: ReportObject, source: String) throws(Problem) {
        let version = try object.text("specversion")
        guard version == "1.0" else { throw .init("'specversion' is '\(version)', not '1.0'") }
        // It is compared as a whole: prefix, group and name may each be as long as one of the other texts.
        let stated = try object.text("source", atMost: max(source.utf8.count, ReportBounds.text))
        guard stated == source else { throw .init("'source' is '\(stated)', not '\(source)'") }
        id = try object.text("id")
        data = try object.object("data")
        try data.checkVersion()
        kind = try data.text("event")
        let type = try object.text("type")
        guard type == "netwatch.\(kind)" else { throw .init("'type' is '\(type)', but the event is '\(kind)'") }
    }
}

extension EventReport {
    fileprivate init(_ event: CloudEvent) throws(Problem) {
        guard let id = try? EventID(parsing: event.id) else { throw .init("'id' is not an event's: '\(event.id)'") }
        let data = event.data
        let sequence: UInt64 = try data.number("seq", atMost: .max)
        guard sequence == id.sequence, sequence > 0 else {
            throw .init("'seq' is \(sequence), but the id says \(id.sequence)")
        }
        let name = try data.text("status")
        guard let status = ReachabilityStatus(name: name) else { throw .init("there is no status '\(name)'") }
        try self.init(
            id: id,
            time: data.time("time"),
            status: status,
            reasons: data.names("reasons", atMost: ReportBounds.reasons),
            path: NodePath(data.optionalObject("path")),
            suspension: event.kind == "suspend" ? data.suspension() : nil,
            validation: data.validation
        )
    }
}

extension NodeValidation {
    /// Takes what a table shows of a report.
    fileprivate init(_ summary: ValidationSummary) {
        self.init(verdict: Self.limited(summary.verdict), checkedAt: summary.checkedAt)
    }

    /// Limits what strangers chose.
    private static func limited(_ verdict: ValidationVerdict) -> ValidationVerdict {
        let url = { (url: String?) in url.flatMap { $0.utf8.count <= ReportBounds.url ? $0 : nil } }
        return switch verdict {
        case .portal(let portal): .portal(.init(loginURL: url(portal.loginURL), venueURL: url(portal.venueURL)))
        case .noInternet(.interception(let text)): .noInternet(.interception(String(text.prefix(ReportBounds.text))))
        case .validated, .noInternet, .notChecked: verdict
        }
    }
}

extension NodePath {
    /// Reads a path; nil without an interface.
    fileprivate init?(_ object: ReportObject?) throws(Problem) {
        guard let object, let interface = try object.optionalObject("interface") else { return nil }
        var gateway: String?
        for family in ["ipv4", "ipv6"] where gateway == nil {
            gateway = try object.optionalObject(family)?.optionalText("gateway")
        }
        self.init(interface: try interface.text("name"), kind: try interface.text("kind"), gateway: gateway)
    }
}

extension GapReport {
    fileprivate init(_ event: CloudEvent) throws(Problem) {
        let gap = try event.data.object("gap")
        let from = try gap.optionalText("from").flatMap { try? EventID(parsing: $0) }
        self.init(
            id: event.id,
            from: from,
            missed: try gap.optionalNumber("missed"),
            reason: try gap.text("reason")
        )
    }
}

/// A fault of a message.
private struct Problem: Error {
    let problem: String

    init(_ problem: String) { self.problem = problem }
}

/// An object of a message, whose members have to have the right types.
private struct ReportObject {
    private let members: [String: JSONText]
    /// The members that lead to it, as in `data.path.`.
    private let place: String

    private init(_ members: [String: JSONText], at place: String) { (self.members, self.place) = (members, place) }

    init(parsing payload: [UInt8]) throws(Problem) {
        do {
            guard let members = try JSONText(payload[...]).members else { throw JSONText.notAnObject }
            self.init(members, at: "")
        } catch {
            throw .init("the payload is no JSON object: \(error)")
        }
    }

    func checkVersion() throws(Problem) {
        let version: UInt64 = try number("v", atMost: .max)
        guard version == 1 else { throw .init("'\(place)v' is \(version); only version 1 is known") }
    }

    /// The member, which is not null.
    private func member(_ name: String) -> JSONText? { members[name].flatMap { $0.isNull ? nil : $0 } }

    private func problem(_ name: String, _ kind: String) -> Problem {
        .init("'\(place)\(name)' is \(member(name) == nil ? "missing" : "not \(kind)")")
    }

    // MARK: Members that have to be there

    func text(_ name: String, atMost limit: Int = ReportBounds.text) throws(Problem) -> String {
        guard let text = try optionalText(name, atMost: limit) else { throw problem(name, "a string") }
        return text
    }

    func boolean(_ name: String) throws(Problem) -> Bool {
        guard let value = member(name)?.boolean else { throw problem(name, "true or false") }
        return value
    }

    func time(_ name: String) throws(Problem) -> Timestamp {
        guard let time = try optionalTime(name) else { throw problem(name, "a time") }
        return time
    }

    func number<Number: FixedWidthInteger>(_ name: String, atMost limit: Number) throws(Problem) -> Number {
        guard let value = member(name)?.wholeNumber, value <= UInt64(limit) else {
            throw problem(name, "a whole number up to \(limit)")
        }
        return Number(value)
    }

    func object(_ name: String) throws(Problem) -> Self {
        guard let object = try optionalObject(name) else { throw problem(name, "an object") }
        return object
    }

    /// The strings of an array, as far as they are kept.
    func names(_ name: String, atMost count: Int) throws(Problem) -> [String] {
        guard let elements = member(name)?.elements else { throw problem(name, "an array") }
        return try elements.prefix(count).map { element throws(Problem) in
            guard let text = element.string, text.utf8.count <= ReportBounds.text else {
                throw problem(name, "an array of strings of at most \(ReportBounds.text) bytes")
            }
            return text
        }
    }

    // MARK: Members that may be missing or null

    func optionalText(_ name: String, atMost limit: Int = ReportBounds.text) throws(Problem) -> String? {
        guard let value = member(name) else { return nil }
        guard let text = value.string else { throw problem(name, "a string") }
        guard text.utf8.count <= limit else { throw problem(name, "a string of at most \(limit) bytes") }
        return text
    }

    func optionalTime(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = try optionalText(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else { throw problem(name, "a time as RFC 3339 has it") }
        return time
    }

    func optionalNumber(_ name: String) throws(Problem) -> UInt64? {
        member(name) == nil ? nil : try number(name, atMost: .max)
    }

    func optionalObject(_ name: String) throws(Problem) -> Self? {
        guard let value = member(name) else { return nil }
        guard let members = value.members else { throw problem(name, "an object") }
        return .init(members, at: "\(place)\(name).")
    }

    func texts(_ name: String, atMost count: Int) throws(Problem) -> [String: String] {
        guard let object = try optionalObject(name) else { return [:] }
        guard object.members.count <= count else { throw problem(name, "an object of at most \(count) members") }
        var texts: [String: String] = [:]
        for (key, _) in object.members {
            guard (1...ReportBounds.name).contains(key.utf8.count) else {
                throw problem(name, "an object whose names have 1 to \(ReportBounds.name) bytes")
            }
            texts[key] = try object.text(key)
        }
        return texts
    }

    /// The verdict on the path; nil if there is none that is known, such as one of a later version.
    var validation: NodeValidation? {
        let summary = member("validation").flatMap { try? ValidationSummary($0) }
        return summary.map { NodeValidation($0) }
    }

    /// The duration of a suspension; the longest possible one if that is not said.
    func suspension() throws(Problem) -> Duration {
        guard let value = member("suspended") else { return .seconds(ReportBounds.suspension) }
        guard let seconds = value.number, (0...ReportBounds.suspension).contains(seconds) else {
            throw problem("suspended", "a number of seconds")
        }
        return .seconds(seconds)
    }
}

extension JSONText {
    fileprivate static let notAnObject = NotAnObject()

    fileprivate struct NotAnObject: Error, CustomStringConvertible {
        var description: String { "it is another value" }
    }
}
