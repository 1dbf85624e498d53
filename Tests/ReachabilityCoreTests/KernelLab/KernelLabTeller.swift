import ReachabilityCore

/// Writes changes in the form of the lab's expected files, as `scripts/kernel-lab.d/lines.jq` does.
///
/// Where an expected file tells what `netwatch status` answered, the path as it is then is written.
struct KernelLabTeller {
    /// What was written.
    private(set) var lines: [String] = []
    private let expected: [String]
    private var path: NetworkPath?
    private var indices: [String: [InterfaceIndex]] = [:]

    /// Makes a teller for what is expected, which it reads only to know where there is an answer.
    init(expected: [String]) {
        self.expected = expected
        tellAnswers()
    }

    /// Writes a change.
    mutating func tell(_ change: ReachabilityChange) {
        path = change.path
        let further = change.path.reasons.filter { !change.reasons.contains($0) }
        append("\(change.event)", change.path, change.reasons + further, tellsSource: false)
        tellAnswers()
    }

    private mutating func tellAnswers() {
        while let path, lines.count < expected.count, expected[lines.count].hasPrefix("status ") {
            append("status", path, path.reasons, tellsSource: true)
        }
    }

    private mutating func append(
        _ event: String,
        _ path: NetworkPath,
        _ reasons: [ReachabilityReason],
        tellsSource: Bool
    ) {
        let interfaces = ([path.interface].compactMap(\.self) + path.carriers).map { describe($0, tellsSource) }
        var line = "\(event) \(path.status.name)"
        if let first = interfaces.first {
            let families = [path.ipv4.map { _ in "ipv4" }, path.ipv6.map { _ in "ipv6" }].compactMap(\.self)
            let carriers = interfaces.dropFirst().joined(separator: ", ")
            line += " \(first) over \(carriers), \(families.joined(separator: "+"))"
            if path.isExpensive { line += ", expensive" }
        }
        lines.append(line + ":" + reasons.map { " \($0.rawValue)" }.joined())
    }

    private mutating func describe(_ interface: NetworkInterface, _ tellsSource: Bool) -> String {
        if indices[interface.name]?.contains(interface.index) != true {
            indices[interface.name, default: []].append(interface.index)
        }
        let position = indices[interface.name]?.firstIndex(of: interface.index) ?? 0
        let name = position == 0 ? interface.name : "\(interface.name)#\(position + 1)"
        let source = tellsSource ? " \(interface.kindSource.rawValue)" : ""
        return "\(name) (\(interface.kind.rawValue)\(source))"
    }
}
