import ArgumentParser
import BrokerCommandLine
import CommandLineSupport
import Crypto
import FleetCore
import Glibc
import LinuxSystem

/// How the machine is named in the fleet.
struct MachineOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init("The machine's name (default: a hash of /etc/machine-id).", valueName: "name"),
        transform: NameArgument.parse
    )
    var node: String?

    @Option(
        parsing: .unconditional,
        help: .init("The machine's group, such as its site.", valueName: "name"),
        transform: NameArgument.parse
    )
    var group = "default"

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("What else is to be known of the machine. Repeatable.", valueName: "name=value"),
        transform: LabelArgument.parse
    )
    var label: [LabelArgument] = []

    @Option(
        parsing: .unconditional,
        help: .init("The first levels of the topics.", valueName: "topic"),
        transform: TopicArgument.parseLevels
    )
    var prefix = "netwatch"

    /// Checks that a viewer takes the labels.
    func check() throws {
        guard Set(label.map(\.name)).count > ReportBounds.labels else { return }
        throw ValidationError("a machine has at most \(ReportBounds.labels) labels; leave out some --label")
    }

    /// The machine.
    func fleetNode() throws(ToolError) -> FleetNode {
        let labels = Dictionary(label.map { ($0.name, $0.value) }) { $1 }
        let name: String
        if let node { name = node } else { name = try MachineIdentity.name() }
        return FleetNode(prefix: prefix, group: group, name: name, labels: labels)
    }
}

/// Reads the values of `--node` and `--group`.
enum NameArgument {
    /// Reads a name that is one level of a topic, and that a viewer takes.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> String {
        guard text.utf8.count <= ReportBounds.name else {
            throw .init("it has more than \(ReportBounds.name) bytes; write a shorter name such as site-3")
        }
        return try TopicArgument.parse(text)
    }
}

/// The value of `--label`.
struct LabelArgument: Hashable {
    let name: String
    let value: String

    /// Reads `NAME=VALUE`.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .init("it is not a name and a value; write NAME=VALUE such as site=Basel")
        }
        guard parts[0].utf8.count <= ReportBounds.name, parts[1].utf8.count <= ReportBounds.text else {
            throw .init(
                "a label's name has at most \(ReportBounds.name) bytes, and its value \(ReportBounds.text); shorten it"
            )
        }
        return .init(name: parts[0], value: parts[1])
    }
}

/// The identity of the machine (machine-id(5)).
enum MachineIdentity {
    /// Returns a name that is the same at each start, and from which the machine's id can't be found.
    ///
    /// The id is not to be shown on a network, says its manual page, but to be hashed with a key of the application.
    static func name(file: String = "/etc/machine-id") throws(ToolError) -> String {
        let text: String
        do throws(SystemError) {
            text = String(decoding: try FileContents.read(file, atMost: 4096), as: UTF8.self)
        } catch {
            throw .init("cannot read '\(file)': \(error); name the machine with --node", exit: .usage)
        }
        let id = text.filter(\.isHexDigit)
        guard id.count == 32 else {
            throw .init("'\(file)' has no machine id; name the machine with --node", exit: .usage)
        }
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("netwatch fleet".utf8),
            using: .init(data: Array(id.utf8))
        )
        return code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
