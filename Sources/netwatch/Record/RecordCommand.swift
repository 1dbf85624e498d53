import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch record`: writes the kernel's messages to a capture, for `netwatch replay`, tcpdump and Wireshark.
struct RecordCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record kernel messages to a capture.",
        discussion: .guide(
            [
                .init("Record until Ctrl-C", "netwatch record outage.pcap"),
                .init("Record for an hour, compressed", "timeout 1h netwatch record - | gzip >outage.pcap.gz"),
                .init("Print what was recorded, here or elsewhere", "netwatch replay outage.pcap"),
            ],
            """
            The capture is pcap with link type 253 (netlink), which tcpdump and Wireshark read too. It begins with a \
            dump of the kernel's tables, so that it is complete by itself; each message is written at once. A file that \
            is not empty is not overwritten. Exits with 0 on SIGINT, SIGTERM or a closed pipe.
            """
        )
    )

    @Argument(help: .init("The file to create; '-' for stdout.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("The file's name is empty; name one, or '-' for stdout") }
    }

    func execute() throws(ToolError) -> ExitStatus {
        let output = try CaptureFile.open(file)
        let recorder = CaptureRecorder(output)
        let wakeup = try Wakeup.open()
        var configuration = common.configuration
        configuration.tap = { if !recorder.write($0) { wakeup.signal() } }
        recorder.begin()
        if recorder.failure == nil {
            let session: MonitorSession
            do throws(ToolError) {
                session = try MonitorSession(
                    configuration,
                    wakeup: wakeup,
                    signals: [SIGINT, SIGTERM],
                    output: output.descriptor
                ) { _ in }
            } catch {
                if file != "-" { recorder.withdraw() }
                throw error
            }
            _ = try session.next()
            session.stop()
        }
        return try recorder.end(writing: file == "-" ? "stdout" : "'\(file.escapedForTerminal)'")
    }
}

/// Writes the datagrams between a monitor and the kernel to a capture, each immediately, on the event thread.
final class CaptureRecorder: Sendable {
    private let output: LineOutput
    private let writer = CaptureWriter()
    private let failed = Lock<OutputFailure?>(nil)

    /// Creates a recorder; it writes nothing by itself.
    init(_ output: LineOutput) { self.output = output }

    /// Why nothing is written any more.
    var failure: OutputFailure? { failed.withLock { $0 } }

    /// Empties the file again, whose head would keep the next recording from it; without effect on a pipe.
    func withdraw() { ftruncate(output.descriptor, 0) }

    /// Writes the capture's head.
    func begin() { _ = write(writer.header) }

    /// Writes one datagram; false if that failed, now or before.
    func write(_ event: CaptureEvent) -> Bool {
        guard failure == nil else { return false }
        let record = writer.record(
            at: Int64(clamping: event.time),
            event.bytes,
            protocol: event.protocolNumber,
            type: event.direction == .toKernel ? .kernel : .user
        )
        return write(record)
    }

    /// Closes the file, where some file systems report errors, and returns the exit status.
    func end(writing name: String) throws(ToolError) -> ExitStatus {
        let closing = close(output.descriptor) == 0 ? nil : OutputFailure.failed(SystemError.last)
        return try (failure ?? closing)?.end(writing: name) ?? .success
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        do throws(OutputFailure) {
            try output.write(bytes)
            return true
        } catch {
            failed.withLock { $0 = error }
            return false
        }
    }
}

/// The file that a recording goes to.
enum CaptureFile {
    /// Opens it; `-` is stdout.
    ///
    /// A regular file that holds something is refused, so that a slip does not cost an earlier recording; pipes, devices
    /// and empty files (as mktemp(1) makes them) are taken.
    ///
    /// - Throws: An error with a text for the user.
    static func open(_ path: String) throws(ToolError) -> LineOutput {
        guard path != "-" else { return try standardOutput() }
        let name = path.escapedForTerminal
        do throws(SystemError) {
            let descriptor = try retryingOnInterrupt {
                Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666)
            }
            var status = stat()
            _ = try retryingOnInterrupt { fstat(descriptor, &status) }
            guard status.st_mode & S_IFMT != S_IFREG || status.st_size == 0 else { throw .init(code: EEXIST) }
            return LineOutput(descriptor: descriptor)
        } catch {
            guard error.code != EEXIST else {
                throw .init("'\(name)' holds something already; remove it, or name another file", exit: .usage)
            }
            throw .init("cannot create '\(name)': \(error); name a file in a writable directory", exit: .outputFailure)
        }
    }

    private static func standardOutput() throws(ToolError) -> LineOutput {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw .init("a capture is not for terminals; send stdout to a file or a pipe", exit: .usage)
        }
        return .standard
    }
}
