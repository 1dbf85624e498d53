import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// `netwatch replay`: prints what `watch` would have printed.
struct ReplayCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Print a capture as 'watch' would.",
        discussion: .guide(
            [
                .init("Print the changes of a recording", "netwatch replay outage.pcap"),
                .init(
                    "Print those of a compressed one as JSON Lines",
                    "zcat outage.pcap.gz | netwatch replay - --json"
                ),
                .init("Ignore outages of less than two seconds", "netwatch replay outage.pcap --settle 2s"),
            ],
            """
            Reads pcap and pcapng with link type 253 (netlink), of either byte order, as 'netwatch record', or tcpdump \
            and Wireshark on an nlmon interface, write it. Exits with 65 if the capture is damaged, and prints the \
            record and its offset.
            """
        )
    )

    @Argument(help: .init("The capture; '-' for stdin.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Print JSON Lines.")
    var json = false

    @Flag(help: "Also print Wi-Fi roams.")
    var roams = false

    @Option(
        parsing: .unconditional,
        help: .init("Report once quiet for this long, as 'watch' does.", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var settle: Duration = .zero

    @OptionGroup var kinds: KindOptions

    func execute() throws(ToolError) -> ExitStatus {
        let bytes = try CaptureInput.read(file)
        var fault: ReplayError?
        do throws(OutputFailure) {
            fault = try printChanges(in: bytes)
        } catch {
            return try error.end(writing: "stdout")
        }
        guard let fault else { return .success }
        throw .init("\(file == "-" ? "stdin" : file.escapedForTerminal): \(fault)", exit: .badData)
    }

    /// Prints everything that can be read, and reports faults.
    private func printChanges(in bytes: [UInt8]) throws(OutputFailure) -> ReplayError? {
        var replay = CaptureReplay(context: kinds.context(user: geteuid()), settle: settle, reportsRoams: roams)
        while true {
            switch Result(catching: { () throws(ReplayError) in try replay.next(bytes.span.bytes) }) {
            case .success(let changes?): try write(changes)
            case .success(nil):
                try write(replay.finish())
                return nil
            case .failure(let fault): return fault
            }
        }
    }

    private func write(_ changes: [ReplayedChange]) throws(OutputFailure) {
        let format = json ? ChangeFormat.json : .text
        for change in changes {
            try LineOutput.standard.write(format.line(change.change, at: .init(nanosecondsSinceEpoch: change.time)))
        }
    }
}

/// Reads a whole capture, from a file or from stdin.
enum CaptureInput {
    /// The file's bytes; `-` is stdin.
    ///
    /// - Throws: An error with a text for the user.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let name = path.escapedForTerminal
        do throws(SystemError) {
            return path == "-" ? try FileContents.readStandardInput() : try FileContents.read(path)
        } catch {
            let what = path == "-" ? "stdin" : "'\(name)'"
            throw .init("cannot read \(what): \(error); give a capture of 'netwatch record'", exit: .badData)
        }
    }
}
