import ArgumentParser
import CommandLineSupport
import Glibc
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch record`: a capture of what the kernel tells, for `netwatch replay`, tcpdump and Wireshark.
struct RecordCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record the kernel's messages into a capture, until interrupted.",
        discussion: .guide(
            [
                .init("Record until Ctrl-C", "netwatch record outage.pcap"),
                .init("For an hour, compressed", "timeout 1h netwatch record - | gzip >outage.pcap.gz"),
                .init("Look at it, here or anywhere else", "netwatch replay outage.pcap"),
            ],
            """
            The file is pcap with link type 253 (netlink), which tcpdump and Wireshark read too. It begins with the \
            kernel's tables as they are, so that it stands alone, and each message is written at once. A file that \
            holds something is not overwritten. Exits with 0 on SIGINT, on SIGTERM, and when nobody reads its output \
            any more.
            """
        )
    )

    @Argument(help: .init("The file to make; '-' for stdout.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("The file's name is empty; name one, or '-' for stdout") }
    }

    func execute() throws(ToolError) -> ExitStatus {
        let output = try CaptureFile.open(file)
        let recorder = CaptureRecorder(output)
        let wakeup = try Wakeup()
        var configuration = common.configuration
        configuration.tap = { if !recorder.write($0) { wakeup.signal() } }
        recorder.begin()
        if recorder.failure == nil {
            let session = try MonitorSession(
                configuration,
                wakeup: wakeup,
                signals: [SIGINT, SIGTERM],
                output: output.descriptor
            ) { _ in }
            _ = try session.next()
            try session.stop()
        }
        return try recorder.end(writing: file == "-" ? "stdout" : "'\(file.escapedForTerminal)'")
    }
}
