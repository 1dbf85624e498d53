import ReachabilityCore

/// Everything about one notice.
struct DetailsText {
    let entry: LogEntry
    let words: PathWords

    /// From the time to each reason's meaning and cure.
    var paragraphs: [Paragraph] {
        let change = entry.change
        var fields: [(String, String)] = [("time", entry.time.whole)]
        if let latency = entry.latency {
            fields.append(("latency", DurationText.latency(latency) + " from reading the kernel's message"))
        }
        fields.append(("event", change.event.rawValue))
        fields.append(("state", change.status.word + (change.previous.map { ", before \($0.word)" } ?? "")))
        fields += path(change.path)
        return fields.map { Paragraph(label: $0.0, at: 11, $0.1) } + reasons
    }

    private func path(_ path: NetworkPath) -> [(String, String)] {
        guard let interface = path.interface else { return [("path", "none")] }
        var fields = [("interface", words.named(interface) + ", number \(interface.index)")]
        let carriers = path.carriers.map(words.named).joined(separator: ", ")
        fields.append(("carriers", carriers.isEmpty ? "not known" : carriers))
        if let ipv4 = path.ipv4 { fields.append(("IPv4", family(ipv4))) }
        if let ipv6 = path.ipv6 { fields.append(("IPv6", family(ipv6))) }
        let costs = (path.isExpensive ? ["expensive"] : []) + (path.isConstrained ? ["constrained"] : [])
        if !costs.isEmpty { fields.append(("cost", costs.joined(separator: ", "))) }
        return fields
    }

    private func family(_ path: FamilyPath) -> String {
        let gateway = path.gateway.map { "via \($0) " } ?? "on link "
        let table = path.table == .main ? "" : " table \(path.table.rawValue)"
        return words.safe(path.interface.name) + " \(gateway)source \(path.source) metric \(path.metric)\(table)"
    }

    private var reasons: [Paragraph] {
        entry.reasons.flatMap { reason in
            [Paragraph(), .init(reason.rawValue, style: .init(isBold: true))]
                + [Paragraph(at: 2, reason.meaning.filled(nil))]
                + (reason.cure.map { [Paragraph(label: "  cure", at: 11, $0.filled(interfaceName))] } ?? [])
        }
    }

    private var interfaceName: String? { entry.change.path.interface.map { words.safe($0.name) } }
}
