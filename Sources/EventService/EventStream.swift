package import NetwatchCore
package import ReachabilityCore

/// Puts events together from the lines of a stream of server-sent events (HTML Living Standard, 9.2).
struct EventStream {
    private var id: NetwatchEvent.ID?
    private var data: [UInt8] = []
    private var gap: NetwatchEvent.Gap?

    /// Takes a line.
    ///
    /// - Returns: The event that it ends; nil if there is none, or it reports a gap, which the next event has then.
    mutating func take(_ line: [UInt8]) -> NetwatchEvent? {
        guard !line.isEmpty else { return end() }
        if let value = Self.value(of: "id", in: line) { id = .init(String(decoding: value, as: UTF8.self)) }
        if let value = Self.value(of: "data", in: line) { data = Array(value) }
        return nil
    }

    private mutating func end() -> NetwatchEvent? {
        defer { (id, data) = (nil, []) }
        guard let members = (try? JSONText(data[...]))?.members else { return nil }
        if let report = members["gap"]?.members {
            gap = .init(
                from: report["from"]?.string.map { .init($0) },
                missed: report["missed"]?.wholeNumber,
                reason: report["reason"]?.string ?? "unknown"
            )
        }
        guard let id, let change = ReachabilityChange(members: members) else { return nil }
        defer { gap = nil }
        let summary = members["validation"].flatMap { try? ValidationSummary($0) }
        return .init(id: id, change: change, gap: gap, validation: summary.map { .init($0) })
    }

    private static func value(of name: String, in line: [UInt8]) -> ArraySlice<UInt8>? {
        let head = Array("\(name):".utf8)
        guard line.starts(with: head) else { return nil }
        let rest = line[head.count...]
        return rest.first == UInt8(ascii: " ") ? rest.dropFirst() : rest
    }
}

extension ReachabilityChange {
    /// Reads the object of an event, version 1 (docs/event.schema.json); nil if it is of another kind.
    ///
    /// What the object does not have, such as the routing table of a path, has its usual value. A change of the verdict on the
    /// path is a change that keeps the status.
    package init?(members: [String: JSONText]) {
        guard members["v"]?.wholeNumber == 1, let sequence = members["seq"]?.wholeNumber,
            let event = members["event"]?.string.flatMap({ $0 == "validation" ? .change : Event(rawValue: $0) }),
            let status = Self.status(members["status"]), let path = members["path"]?.members
        else { return nil }
        let reasons = (members["reasons"]?.elements ?? []).compactMap { $0.string.flatMap(ReachabilityReason.init) }
        self.init(
            event: event,
            status: status,
            previous: Self.status(members["previous"]),
            path: .init(members: path, status: status, reasons: status.isReachable ? [] : reasons),
            reasons: reasons,
            sequence: sequence,
            suspended: members["suspended"]?.number.map { .milliseconds(Int64(max(0, min($0, 1e12)) * 1000)) }
        )
    }

    private static func status(_ text: JSONText?) -> ReachabilityStatus? {
        text?.string.flatMap { ReachabilityStatus(name: $0) }
    }
}

extension NetworkPath {
    fileprivate init(members: [String: JSONText], status: ReachabilityStatus, reasons: [ReachabilityReason]) {
        let interface = NetworkInterface(members["interface"])
        let carriers = (members["carriers"]?.elements ?? []).compactMap { NetworkInterface($0) }
        let known = carriers + [interface].compactMap(\.self)
        let isExpensive = members["expensive"]?.isTrue ?? false
        let isConstrained = members["constrained"]?.isTrue ?? false
        let family = { (name: String) in
            members[name]?.members.flatMap { FamilyPath($0, known, isExpensive, isConstrained) }
        }
        self.init(
            status: status,
            interface: interface,
            carriers: carriers,
            ipv4: family("ipv4"),
            ipv6: family("ipv6"),
            reasons: reasons,
            isExpensive: isExpensive,
            isConstrained: isConstrained
        )
    }
}

extension FamilyPath {
    /// Reads the path of a family; `known` are the interfaces of the whole path, of which one has the index that a family's
    /// own lacks.
    fileprivate init?(
        _ members: [String: JSONText],
        _ known: [NetworkInterface],
        _ isExpensive: Bool,
        _ isConstrained: Bool
    ) {
        guard let name = members["interface"]?.string,
            let kind = members["kind"]?.string.flatMap(InterfaceKind.init(rawValue:)),
            let source = members["source"]?.string.flatMap({ IPAddress($0) })
        else { return nil }
        let carriers = (members["carriers"]?.elements ?? []).compactMap { NetworkInterface($0) }
        let own = (known + carriers).first { $0.name == name }
        let isCellular = carriers.contains { $0.kind == .cellular }
        self.init(
            status: isCellular ? .cellular : .wifi,
            interface: own ?? .init(index: 0, name: name, kind: kind, kindSource: .plain),
            carriers: carriers,
            gateway: members["gateway"]?.string.flatMap { IPAddress($0) },
            source: source,
            metric: UInt32(clamping: members["metric"]?.wholeNumber ?? 0),
            table: .main,
            isExpensive: isExpensive,
            isConstrained: isConstrained
        )
    }
}

extension NetworkInterface {
    fileprivate init?(_ text: JSONText?) {
        guard let members = text?.members, let index = members["index"]?.wholeNumber,
            let name = members["name"]?.string,
            let kind = members["kind"]?.string.flatMap(InterfaceKind.init(rawValue:))
        else { return nil }
        let source = members["by"]?.string.flatMap(KindSource.init(rawValue:)) ?? .plain
        self.init(index: .init(clamping: index), name: name, kind: kind, kindSource: source)
    }
}
