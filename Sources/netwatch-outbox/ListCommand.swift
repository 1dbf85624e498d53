import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import NetwatchCore
import Outbox

/// `netwatch outbox list`: the lanes and the items that wait.
struct ListCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the lanes, and the items that have not ended."
    )

    @OptionGroup var box: BoxOptions
    @Option(help: .init("Only the items of this lane.", valueName: "name"))
    var lane: String?
    @Flag(help: "On a terminal, list all items rather than the first 20.")
    var all = false
    @Flag(help: "Print JSON lines.")
    var json = false

    func execute() throws(ToolError) -> ExitStatus {
        let isTable = !json && isatty(STDOUT_FILENO) == 1
        let limit = isTable && !all ? 20 : Int.max
        let (lanes, items) = try box.read { database in
            (try BoxStorage.summaries(database), try BoxStorage.items(database, lane: lane, limit: limit))
        }
        let shown = lanes.filter { lane == nil || $0.lane.name == lane }
        if let lane, shown.isEmpty {
            throw .init("there is no lane '\(lane.escapedForTerminal)'; see 'netwatch outbox list'", exit: .noInput)
        }
        if isTable { return try StandardOutput.write(table(shown, items)) }
        let lines = json ? shown.map(\.jsonLine) + items.map(\.jsonLine) : shown.map(\.line) + items.map(\.line)
        return try StandardOutput.write(lines.map { $0 + "\n" }.joined())
    }

    private func table(_ lanes: [LaneSummary], _ items: [OutboxItem]) -> String {
        let rest = lanes.reduce(0) { $0 + $1.items } - items.count
        let more = rest > 0 ? ["  ... and \(rest) more: --all lists them"] : []
        let lines = LaneTable.lines(lanes) + items.map(\.line) + more
        return lines.isEmpty ? "The outbox is empty.\n" : lines.map { $0 + "\n" }.joined()
    }
}

/// `netwatch outbox show`: an item.
struct ShowCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Print an item, or its outcome.")

    @OptionGroup var box: BoxOptions
    @Flag(help: "Print a line of JSON.")
    var json = false
    @Argument(help: .init("The number of the item.", valueName: "id"), transform: ItemNumberArgument.parse)
    var id: Int64

    func execute() throws(ToolError) -> ExitStatus {
        let (item, outcome) = try box.read { database in
            (
                try BoxStorage.items(database, after: max(id, 1) - 1, limit: 1).first { $0.id.rawValue == id },
                try BoxStorage.outcome(of: id, database)
            )
        }
        let found = json ? item?.jsonLine ?? outcome?.jsonLine : item?.text ?? outcome?.text
        guard let text = found else {
            throw .init("there is no item \(id): it has ended and was acknowledged, or was never added", exit: .noInput)
        }
        return try StandardOutput.write(text + "\n")
    }
}

/// `netwatch outbox check`: whether the outbox is sound.
struct CheckCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the database, and print the contents in numbers."
    )

    @OptionGroup var box: BoxOptions
    @Flag(help: "Print a line of JSON.")
    var json = false

    func execute() throws(ToolError) -> ExitStatus {
        let (problems, statistics) = try box.read { (try $0.quickCheck(), try BoxStorage.statistics($0)) }
        if let first = problems.first {
            let what = "\(box.path.escapedForTerminal): the database is damaged: \(first.escapedForTerminal)"
            throw .init("\(what); 'netwatch outbox run' keeps what can be read", exit: .badData)
        }
        let text = "\(statistics.items) items, \(statistics.bytes) bytes, \(statistics.outcomes) outcomes"
        return try StandardOutput.write((json ? statistics.jsonLine : text) + "\n")
    }
}

extension OutboxItem {
    /// The item as a line for people.
    var line: String {
        let reason = failure.map { " (\($0.escapedForTerminal))" } ?? ""
        let start = notBefore.map { ", not before \(TimeWords.local($0))" } ?? ""
        return "  \(id) \(state) \(method) \(reference.escapedForTerminal) \(size) B\(start)\(reason)"
    }

    /// The item as JSON.
    var jsonLine: String {
        JSONLine.object([
            ("item", .number(id.rawValue)), ("lane", .text(lane)), ("state", .text("\(state)")),
            ("method", .text(method)), ("reference", .text(reference)), ("key", key.map { .text($0) } ?? .null),
            ("size", .number(size)), ("attempts", .number(Int64(attempts))), ("added", .number(Int64(added))),
            ("notBefore", notBefore.map { .number(Int64($0)) } ?? .null),
            ("failure", failure.map { .text($0) } ?? .null), ("userInfo", .table(userInfo)),
        ])
    }
}

extension OutboxOutcome {
    /// The outcome as a line for people.
    var line: String {
        let status = response.map { " \($0.status)" } ?? ""
        let why = reason.isEmpty ? "" : ": \(reason.escapedForTerminal)"
        return "\(id) \(end)\(status) \(method) \(reference.escapedForTerminal)\(why)"
    }

    /// The outcome as JSON.
    var jsonLine: String {
        JSONLine.object([
            ("item", .number(id.rawValue)), ("lane", .text(lane)), ("outcome", .text("\(end)")),
            ("method", .text(method)), ("reference", .text(reference)), ("key", key.map { .text($0) } ?? .null),
            ("status", response.map { .number(Int64($0.status)) } ?? .null), ("reason", .text(reason)),
            ("ended", .number(Int64(ended))), ("userInfo", .table(userInfo)),
        ])
    }
}

/// A line of JSON.
enum JSONLine {
    enum Value {
        case number(Int64)
        case text(String)
        case flag(Bool)
        case table([String: String])
        case null
    }

    static func object(_ members: [(String, Value)]) -> String {
        "{" + members.map { "\(quoted($0)):\(text($1))" }.joined(separator: ",") + "}"
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .number(let number): "\(number)"
        case .text(let text): quoted(text)
        case .flag(let flag): "\(flag)"
        case .null: "null"
        case .table(let table): object(table.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })
        }
    }

    /// RFC 8259, 7.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
