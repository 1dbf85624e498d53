import ArgumentParser
import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Validation

/// `netwatch validate`: a JSON line for the current verdict on the path, then one for each change.
struct ValidateCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: CommandSummary.validate,
        discussion: .guide(
            [
                .init(
                    "Check once, with a server that answers 204",
                    "netwatch validate --once --validate http://example.com/204"
                ),
                .init(
                    "Follow the verdict, with two servers",
                    "netwatch validate --validate http://a.example/204 --validate tls://b.example"
                ),
                .init(
                    "Expect a body instead of status 204",
                    "netwatch validate --validate 'http://a.example/ok.txt#body=ok'"
                ),
            ],
            """
            The lines are the member 'validation' of 'netwatch watch --json'. It ends when stdout is closed, or stdin if \
            that is a pipe. Exit status: 0 ended, 64 usage, 71 kernel refusal, 74 write error, 77 permission.
            """
        )
    )

    @Flag(help: "Ask now, print one line, and exit.")
    var once = false

    @Option(
        parsing: .unconditional,
        help: .init("Stop waiting for a server after this (default: 5s).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var timeout: Duration = .seconds(5)

    @OptionGroup var validation: ValidationOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard validation.endpoints.isEmpty else { return }
        throw ValidationError("no server is named; write --validate URL")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let roots = try validation.roots()
        let wakeup = try Wakeup.open()
        let readers = ReaderWatch(wakeup: wakeup, isBrief: once)
        let monitor = try startedMonitor(readers)
        guard let monitor else { return .success }
        let validator = try validator(of: monitor, roots)
        let printer = ReportPrinter(once ? .once : .changes, wakeup: wakeup)
        let printing = Task { await printer.run(validator) }
        defer { printing.cancel() }
        while !printer.hasEnded, try readers.wait() {}
        return try printer.failure?.end(writing: "stdout") ?? .success
    }

    /// Starts a monitor, and waits until it knows the path; nil if the readers have gone meanwhile.
    ///
    /// The main thread enters the namespace before the validator's threads start, which inherit it.
    private func startedMonitor(_ readers: ReaderWatch) throws(ToolError) -> ReachabilityMonitor? {
        let monitor = try ToolError.wrapping(try ReachabilityMonitor(configuration: common.configuration))
        let first = FirstState()
        let wakeup = readers.wakeup
        let subscription = monitor.subscribe(on: .immediate) { if first.take($0) { wakeup.signal() } }
        defer { subscription.cancel() }
        let deadline = SystemClock.now.advanced(by: Self.kernelTimeout)
        while monitor.status == .unknown, first.change?.event != .error, SystemClock.now < deadline {
            guard try readers.wait(until: deadline) else { return nil }
        }
        try enterNamespace()
        return monitor
    }

    /// The time without the kernel's reply after which the path counts as unknown.
    private static let kernelTimeout = Duration.seconds(10)

    private func enterNamespace() throws(ToolError) {
        guard let file = common.netns.file else { return }
        do throws(SystemError) {
            try NetworkNamespaceFile(path: file).enter()
        } catch {
            throw error.toolError("enter the namespace '\(file.escapedForTerminal)'")
        }
    }

    private func validator(of monitor: ReachabilityMonitor, _ roots: TrustRoots?) throws(ToolError) -> PathValidator {
        let configuration = ValidationConfiguration(
            endpoints: validation.endpoints,
            timeout: timeout,
            probesMeteredPaths: validation.probesMeteredPaths
        )
        var tls = TLSOptions()
        if let roots { tls.roots = roots }
        do throws(HTTPError) {
            return try PathValidator(configuration, connectivity: monitor, tls: tls)
        } catch {
            throw .init("--validate: \(error.reason.escapedForTerminal)", exit: .usage)
        }
    }
}

extension ValidationOptions {
    /// Reads the root certificates; nil for the system's.
    fileprivate func roots() throws(ToolError) -> TrustRoots? {
        guard let rootFile else { return nil }
        do throws(HTTPError) { return try .only(file: rootFile) } catch {
            throw .init("--validate-cacert: \(error.reason.escapedForTerminal)", exit: .usage)
        }
    }
}
