import ArgumentParser
import CommandLineSupport
import Glibc
import Reachability
import ReachabilityCore
import TerminalDrawing

/// `netwatch watch`: the live view on a terminal; else a line for the current state, then one for each change.
struct WatchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a live view, or print a line per change.",
        discussion: .guide(
            [
                .init("Show the route to a host", "netwatch watch --to server.example"),
                .init("Print a line per change, on a terminal too", "netwatch watch --plain"),
                .init("Print JSON Lines", "netwatch watch --json | jq -r .status"),
                .init("Run a command on each change", #"netwatch watch --exec 'logger "now $NETWATCH_STATUS"'"#),
                .init("Choose fields", "netwatch watch --format '{time} {status} {interface}'"),
                .init("Ignore outages of less than two seconds", "netwatch watch --settle 2s"),
                .init("Watch the network of a container", "sudo netwatch watch --netns 1234"),
                .init("Notice captive portals", "netwatch watch --validate http://status.example.com/204"),
            ],
            """
            In the live view, '?' lists the keys. Lines are printed where stdout is not a terminal, or one that cannot \
            show the view. Exits with 0 on SIGINT, SIGTERM or a closed pipe.
            """
        )
    )

    @Flag(help: "Print JSON Lines.")
    var json = false

    @Flag(help: "Also print Wi-Fi roams.")
    var roams = false

    @OptionGroup var form: FormatOptions

    @OptionGroup(title: "Hook") var hooks: HookOptions

    @OptionGroup var live: LiveOptions

    @OptionGroup(title: "Validation") var validation: ValidationOptions

    @OptionGroup var common: CommonOptions

    /// The watch that the options configure.
    var watch: StateWatch {
        var configuration = common.configuration
        configuration.reportsRoams = roams
        return .init(
            format: form.format(or: json ? .json : .text),
            configuration: configuration,
            hook: hooks.hook,
            validation: validation.processArguments(common)
        )
    }

    /// The option that requests lines on a terminal too; nil if none does.
    private var lineOption: String? {
        if json { return "--json" }
        if live.plain { return "--plain" }
        if hooks.exec != nil { return "--exec" }
        return form.format == nil ? nil : "--format"
    }

    func validate() throws {
        try form.check(besideJSON: json)
        guard !live.to.isEmpty, let lineOption else { return }
        throw ValidationError("--to is shown by the live view, not in lines; leave out \(lineOption)")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let watch = watch
        return try StateView(
            lines: watch,
            live: live.configuration(watch.configuration, watch.validation),
            prefersLines: lineOption != nil
        ).run()
    }
}

/// Shows the state and its changes: as the live view on a terminal that can show it, otherwise as lines.
struct StateView {
    /// The line output.
    var lines: StateWatch
    /// The configuration of the live view.
    var live: LiveConfiguration
    /// Whether lines are printed on a terminal, too.
    var prefersLines = false

    /// Shows it to the end.
    func run() throws(ToolError) -> ExitStatus {
        guard !prefersLines else { return try lines.run() }
        guard isatty(STDOUT_FILENO) == 1 else { return try printLines(instead: "stdout is none") }
        let terminal: OpenTerminal
        do throws(TerminalUnfit) { terminal = try .init(isColored: live.color.isColored) } catch {
            if let words = error.words, live.hosts.isEmpty {
                StandardError.note("no live view: \(words); printing lines")
            }
            return try printLines(instead: error.words ?? "a dumb terminal cannot show it")
        }
        return try LiveScreen.show(live, on: terminal)
    }

    /// Prints lines, without hosts.
    private func printLines(instead why: String) throws(ToolError) -> ExitStatus {
        guard live.hosts.isEmpty else {
            throw .init(
                "--to is for the live view, which needs a terminal (\(why)); use 'netwatch explain HOST' instead",
                exit: .usage
            )
        }
        return try lines.run()
    }
}
