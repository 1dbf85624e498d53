import ReachabilityCore
package import ValidationCore

extension ValidationSummary {
    /// The JSON object, without a line feed: the member `validation` of `docs/event.schema.json`.
    ///
    /// Texts that strangers chose are escaped for terminals, too.
    package var json: String {
        JSONValue.object([
            ("verdict", JSONValue.string(verdict.name)), ("since", JSONValue.string(since.text)),
            ("checked", JSONValue.string(checkedAt?.text)), ("basis", JSONValue.string(basis.rawValue)),
            ("reason", JSONValue.string(verdict.reason?.name)), ("detail", JSONValue.string(verdict.detail)),
            ("loginURL", JSONValue.string(verdict.portal?.loginURL)),
            ("venueURL", JSONValue.string(verdict.portal?.venueURL)),
            ("expires", JSONValue.string(sessionEnd?.text)), ("bytesLeft", JSONValue.number(bytesLeft)),
            ("path", path?.json ?? "null"), ("trouble", JSONValue.array(trouble.map(\.json))),
            ("pending", JSONValue.string(pendingTrigger?.rawValue)),
        ])
    }

    /// Decodes the JSON object; unknown members are ignored.
    ///
    /// - Throws: ``ValidationSummaryError``, which names the member.
    package init(decoding bytes: ArraySlice<UInt8>) throws(ValidationSummaryError) {
        let text: JSONText
        do throws(JSONError) { text = try .init(bytes) } catch { throw .init("it is no JSON: \(error)") }
        try self.init(text)
    }

    /// Decodes a value that is a part of a JSON text.
    ///
    /// - Throws: ``ValidationSummaryError``, which names the member.
    package init(_ text: JSONText) throws(ValidationSummaryError) {
        let members = try MemberReader(text, "the report")
        self.init(
            verdict: try Self.verdict(members),
            since: try members.time("since").required("since"),
            checkedAt: try members.time("checked"),
            basis: try members.choice("basis", ValidationBasis.self).required("basis"),
            path: try members.object("path").map { (members) throws(ValidationSummaryError) in
                try ValidationPath(members)
            },
            trouble: try members.objects("trouble").map { (members) throws(ValidationSummaryError) in
                try EndpointTrouble(members)
            },
            pendingTrigger: try members.choice("pending", ValidationTrigger.self),
            sessionEnd: try members.time("expires"),
            bytesLeft: try members.number("bytesLeft", Int64.self)
        )
    }

    private static func verdict(_ members: MemberReader) throws(ValidationSummaryError) -> ValidationVerdict {
        let detail = try members.string("detail")
        switch try members.string("verdict").required("verdict") {
        case "validated": return .validated
        case "notChecked": return .notChecked
        case "portal":
            let (login, venue) = (try members.string("loginURL"), try members.string("venueURL"))
            return .portal(.init(loginURL: login, venueURL: venue))
        case "noInternet":
            let name = try members.string("reason").required("reason")
            guard let reason = NoInternetReason(name, detail) else { throw .init("'reason' is unknown") }
            return .noInternet(reason)
        default: throw .init("'verdict' is unknown")
        }
    }
}

/// An error in the JSON of a report.
package struct ValidationSummaryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The fault.
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The fault, and that it is the report's.
    package var description: String { "the validation report can't be read: \(reason)" }
}

extension ValidationVerdict {
    /// The verdict as one word, for JSON, templates and metrics.
    package var name: String {
        switch self {
        case .validated: "validated"
        case .portal: "portal"
        case .noInternet: "noInternet"
        case .notChecked: "notChecked"
        }
    }

    /// The reason why there is no internet; nil for other verdicts.
    package var reason: NoInternetReason? { if case .noInternet(let reason) = self { reason } else { nil } }

    /// The portal; nil for other verdicts.
    package var portal: CaptivePortal? { if case .portal(let portal) = self { portal } else { nil } }

    fileprivate var detail: String? { if case .interception(let text)? = reason { text } else { nil } }
}

extension NoInternetReason {
    /// Takes the dotted word; nil for an unknown one.
    fileprivate init?(_ name: String, _ detail: String?) {
        let plain: [Self] = [
            .noResponse, .unreachable, .refused, .connectionCut, .nameServer, .unknownNames, .proxyLogin,
        ]
        let interception = Self.interception(detail ?? "")
        guard let reason = (plain + [interception]).first(where: { $0.name == name }) else { return nil }
        self = reason
    }
}

// MARK: - Parts

extension ValidationPath {
    fileprivate var json: String {
        JSONValue.object([
            ("interface", JSONValue.string(name)), ("index", "\(interface)"),
            ("gateways", JSONValue.array(gateways.map { JSONValue.string("\($0)") })),
            ("networks", JSONValue.array(networks.map { JSONValue.string("\($0)") })),
            ("metered", isMetered ? "true" : "false"),
        ])
    }

    fileprivate init(_ members: MemberReader) throws(ValidationSummaryError) {
        self.init(
            interface: try members.number("index", InterfaceIndex.self).required("index"),
            name: try members.string("interface").required("interface"),
            gateways: try members.strings("gateways", IPAddress.init),
            networks: try members.strings("networks", IPPrefix.init(text:)),
            isMetered: try members.boolean("metered")
        )
    }
}

extension IPPrefix {
    /// Reads `192.0.2.0/24`.
    fileprivate init?(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = UInt8(parts[1]) else {
            return nil
        }
        guard length <= address.family.bitWidth else { return nil }
        self.init(address, length: length)
    }
}

extension EndpointTrouble {
    fileprivate var json: String {
        JSONValue.object([
            ("endpoint", JSONValue.string(endpoint)), ("meaning", JSONValue.string(meaning.rawValue)),
            ("detail", JSONValue.string(detail)),
        ])
    }

    fileprivate init(_ members: MemberReader) throws(ValidationSummaryError) {
        self.init(
            endpoint: try members.string("endpoint").required("endpoint"),
            meaning: try members.choice("meaning", Meaning.self).required("meaning"),
            detail: try members.string("detail")
        )
    }
}

// MARK: - Values

/// Reads the members of an object; a missing one counts as `null`.
private struct MemberReader {
    private let members: [String: JSONText]

    init(_ text: JSONText, _ name: String) throws(ValidationSummaryError) {
        guard let members = text.members else { throw .init("\(name) is no object") }
        self.members = members
    }

    func string(_ name: String) throws(ValidationSummaryError) -> String? {
        try value(name, "no string", \.string)
    }

    func time(_ name: String) throws(ValidationSummaryError) -> Timestamp? {
        try value(name, "no time as RFC 3339 has it") { $0.string.flatMap { Timestamp(rfc3339: $0) } }
    }

    func choice<Choice: RawRepresentable<String>>(
        _ name: String,
        _: Choice.Type
    ) throws(ValidationSummaryError) -> Choice? { try value(name, "unknown") { $0.string.flatMap(Choice.init) } }

    func number<Number: BinaryInteger>(_ name: String, _: Number.Type) throws(ValidationSummaryError) -> Number? {
        try value(name, "no whole number in its range") { $0.wholeNumber.flatMap(Number.init(exactly:)) }
    }

    func boolean(_ name: String) throws(ValidationSummaryError) -> Bool {
        try value(name, "neither true nor false", \.boolean).required(name)
    }

    func object(_ name: String) throws(ValidationSummaryError) -> Self? {
        guard let text = try value(name, "unknown", { $0 }) else { return nil }
        return try Self(text, "'\(name)'")
    }

    func objects(_ name: String) throws(ValidationSummaryError) -> [Self] {
        let elements = try value(name, "no array", \.elements).required(name)
        return try elements.map { (element) throws(ValidationSummaryError) in
            try Self(element, "an element of '\(name)'")
        }
    }

    func strings<Value>(_ name: String, _ read: (String) -> Value?) throws(ValidationSummaryError) -> [Value] {
        let elements = try value(name, "no array", \.elements).required(name)
        return try elements.map { (element) throws(ValidationSummaryError) in
            guard let value = element.string.flatMap(read) else { throw .init("an element of '\(name)' is invalid") }
            return value
        }
    }

    private func value<Value>(
        _ name: String,
        _ fault: String,
        _ read: (JSONText) -> Value?
    ) throws(ValidationSummaryError) -> Value? {
        guard let text = members[name], !text.isNull else { return nil }
        guard let value = read(text) else { throw .init("'\(name)' is \(fault)") }
        return value
    }
}

extension Optional {
    /// Returns the value; throws that the member is missing without one.
    fileprivate func required(_ name: String) throws(ValidationSummaryError) -> Wrapped {
        guard let self else { throw .init("'\(name)' is missing") }
        return self
    }
}
