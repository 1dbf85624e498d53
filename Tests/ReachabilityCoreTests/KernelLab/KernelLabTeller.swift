import ReachabilityCore

/// Writes changes in the form of the lab's expected files, as `scripts/kernel-lab.d/lines.jq` does.
///
/// Where an expected file has the output of `netwatch status`, the current path is written.
struct KernelLabWriter {
    /// The lines written so far.
    private(set) var lines: [String] = []
    private let expected: [String]
    private var path: NetworkPath?
    private var indices: [String: [InterfaceIndex]] = [:]

    /// Makes a writer; it reads the expected lines only to find those with the output of `netwatch status`.
    init(expected: [String]) {
        self.expected = expected
        writeStatusLines()
    }

    /// Writes a change.
    mutating func write(_ change: ReachabilityChange) {
        path = change.path
        let further = change.path.reasons.filter { !change.reasons.contains($0) }
        append("\(change.event)", change.path, change.reasons + further, writesSource: false)
        writeStatusLines()
    }

    private mutating func writeStatusLines() {
        while let path, lines.count < expected.count, expected[lines.count].hasPrefix("status ") {
            append("status", path, path.reasons, writesSource: true)
        }
    }

    private mutating func append(
        _ event: String,
        _ path: NetworkPath,
        _ reasons: [ReachabilityReason],
        writesSource: Bool
    ) {
        let interfaces = ([path.interface].compactMap(\.self) + path.carriers).map { describe($0, writesSource) }
        var line = "\(event) \(path.status.name)"
        if let first = interfaces.first {
            let families = [path.ipv4.map { _ in "ipv4" }, path.ipv6.map { _ in "ipv6" }].compactMap(\.self)
            let carriers = interfaces.dropFirst().joined(separator: ", ")
            line += " \(first) over \(carriers), \(families.joined(separator: "+"))"
            if path.isExpensive { line += ", expensive" }
        }
        lines.append(line + ":" + reasons.map { " \($0.rawValue)" }.joined())
    }

    private mutating func describe(_ interface: NetworkInterface, _ writesSource: Bool) -> String {
        if indices[interface.name]?.contains(interface.index) != true {
            indices[interface.name, default: []].append(interface.index)
        }
        let position = indices[interface.name]?.firstIndex(of: interface.index) ?? 0
        let name = position == 0 ? interface.name : "\(interface.name)#\(position + 1)"
        let source = writesSource ? " \(interface.kindSource.rawValue)" : ""
        return "\(name) (\(interface.kind.rawValue)\(source))"
    }
}
