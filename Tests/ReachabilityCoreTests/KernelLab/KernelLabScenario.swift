import ReachabilityCore
import Testing

/// A scenario of the kernel lab: its capture, and the lines that are expected of it.
struct KernelLabScenario: Sendable, CustomTestStringConvertible {
    /// The name of its files.
    var name: String

    /// All scenarios except those that are known to fail, which have no capture to replay.
    static let all: [Self] = Fixture.names(in: "KernelLab/scenarios").sorted().compactMap { file in
        let name = String(file.dropLast(3))
        return file.hasSuffix(".sh") && !knownFailures.contains(name) ? .init(name: name) : nil
    }

    private static let knownFailures = lines(of: "../KernelLab/known-failures")

    var testDescription: String { name }

    /// The capture; empty if there is none.
    var capture: [UInt8] { Fixture.bytes("kernel-lab/\(name).pcap") }

    /// The lines that are expected of the capture: without those that no capture can produce.
    var expected: [String] {
        text.filter { line in !Self.others.contains(where: line.hasPrefix) }.map { line in
            line.split(separator: " ").filter { $0 != ReachabilityReason.resumed.rawValue }.joined(separator: " ")
        }
    }

    /// The beginnings of lines that no capture can produce: options, queries of radios and in other namespaces, and
    /// suspensions of the machine.
    private static let others = ["options ", "radio ", "elsewhere ", "suspend "]

    /// The kind rules that the scenario passed to the tool by `--kind`.
    var kindRules: [KindRule] {
        values(of: "--kind").compactMap { rule in
            let parts = rule.split(separator: "=")
            guard parts.count == 2, let kind = InterfaceKind(rawValue: String(parts[1])) else { return nil }
            return .init(pattern: String(parts[0]), kind: kind)
        }
    }

    /// The settle time that the scenario passed to the tool by `--settle`, in whole seconds.
    var settle: Duration {
        .seconds(values(of: "--settle").first.flatMap { Int($0.dropLast()) } ?? 0)
    }

    private var text: [String] { Self.lines(of: "../KernelLab/scenarios/\(name).expected") }

    private static func lines(of fixture: String) -> [String] {
        String(decoding: Fixture.bytes(fixture), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func values(of option: String) -> [String] {
        let words = text.first { $0.hasPrefix("options ") }?.split(separator: " ").map(String.init) ?? []
        return zip(words, words.dropFirst()).filter { $0.0 == option }.map(\.1)
    }
}
