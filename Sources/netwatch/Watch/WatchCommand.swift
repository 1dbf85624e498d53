import ArgumentParser
import CommandLineSupport
import Glibc
import Reachability
import ReachabilityCore

/// `netwatch watch`: the live view on a terminal; else a line for the current state, then one for each change.
struct WatchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the state live on a terminal; else print it, then a line for each change.",
        discussion: .guide(
            [
                .init("The live view, with the ways to two hosts", "netwatch --to 192.0.2.7 --to server.example"),
                .init("A line for each change, until Ctrl-C", "netwatch watch --plain"),
                .init("The same as JSON, for other programs", "netwatch watch --json | jq -r '.status'"),
                .init("Run something at each change", #"netwatch watch --exec 'logger "now $NETWATCH_STATUS"'"#),
                .init("Print no more than one cares for", "netwatch watch --format '{time} {status} {interface}'"),
                .init("Leave out what lasts less than two seconds", "netwatch watch --settle 2s"),
                .init("What a container sees", "sudo netwatch watch --netns 1234"),
            ],
            """
            In the live view '?' tells the keys; where stdout is no terminal, or a dumb one, lines are printed. Exits with \
            0 on SIGINT, on SIGTERM, and when nobody reads its output any more.
            """
        )
    )

    @Flag(help: "Print JSON lines.")
    var json = false

    @Flag(help: "Also print a line when WiFi goes over to another access point without a loss.")
    var roams = false

    @OptionGroup var form: FormatOptions

    @OptionGroup(title: "Hook") var hooks: HookOptions

    @OptionGroup var live: LiveOptions

    @OptionGroup var common: CommonOptions

    /// What the options ask for.
    var watch: StateWatch {
        var configuration = common.configuration
        configuration.reportsRoams = roams
        return .init(
            format: form.format(or: json ? .json : .text),
            configuration: configuration,
            hook: hooks.hook
        )
    }

    /// What asks for lines, on a terminal too; nil if nothing does.
    private var wish: String? {
        if json { return "--json" }
        if live.plain { return "--plain" }
        if hooks.exec != nil { return "--exec" }
        return form.format == nil ? nil : "--format"
    }

    func validate() throws {
        try form.check(besideJSON: json)
        guard !live.to.isEmpty, let wish else { return }
        throw ValidationError("--to is shown by the live view, not in lines; leave out \(wish)")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let watch = watch
        return try StateView(
            lines: watch,
            live: live.configuration(watch.configuration),
            prefersLines: wish != nil
        ).run()
    }
}

/// Shows the state and its changes: as the live view on a terminal that can show it, otherwise as lines.
struct StateView {
    /// What is printed where lines are.
    var lines: StateWatch
    /// What the live view shows.
    var live: LiveConfiguration
    /// Whether lines are printed on a terminal, too.
    var prefersLines = false

    /// Shows it to the end.
    func run() throws(ToolError) -> ExitStatus {
        guard !prefersLines else { return try lines.run() }
        guard isatty(STDOUT_FILENO) == 1 else { return try printLines(instead: "stdout is none") }
        switch try LiveScreen.show(live) {
        case .shown(let status): return status
        case .unfit(let reason):
            if let words = reason.words, live.hosts.isEmpty {
                // Where stderr can't be written there is nobody to tell.
                try? LineOutput.standardError.write("netwatch: no live view: \(words); printing lines\n")
            }
            return try printLines(instead: reason.words ?? "a dumb one can't show it")
        }
    }

    /// Prints lines, which tell nothing of hosts.
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
