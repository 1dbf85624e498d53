import CommandLineSupport
import Reachability

/// The command lines that scripts and people start most, recognised without the argument parser.
///
/// The parser finds its options by reflection, which takes longer than the first reading of the kernel's tables. All
/// else, mistakes too, is its business.
enum PlainCommand: Hashable {
    /// `netwatch`, `netwatch watch`, with or without `--json`.
    case watch(json: Bool)
    /// `netwatch status`, with or without `--json`.
    case status(json: Bool)

    /// The command that arguments stand for, or nil if the parser must tell.
    init?(_ arguments: [String]) {
        switch arguments {
        case [], ["watch"]: self = .watch(json: false)
        case ["--json"], ["watch", "--json"]: self = .watch(json: true)
        case ["status"]: self = .status(json: false)
        case ["status", "--json"]: self = .status(json: true)
        default: return nil
        }
    }

    /// Does what the command is for, with every option as it is by default.
    func execute() throws(ToolError) -> ExitStatus {
        switch self {
        case .watch(let json):
            try StateView(
                lines: .init(format: json ? .json : .text, configuration: .init()),
                live: .init(),
                prefersLines: json
            ).run()
        case .status(let json):
            try StateQuery(format: json ? .detailedJSON : .text, configuration: .init()).run()
        }
    }
}
