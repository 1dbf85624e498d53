import Glibc
import Reachability
import ReachabilityCore
import Synchronization

/// Writes what a monitor and the kernel say to each other into a capture, each datagram at once, on the event thread.
final class CaptureRecorder: Sendable {
    private let output: LineOutput
    private let writer = CaptureWriter()
    private let failed = Mutex<OutputFailure?>(nil)

    /// Makes a recorder; it writes nothing by itself.
    init(_ output: LineOutput) { self.output = output }

    /// Why nothing is written any more.
    var failure: OutputFailure? { failed.withLock { $0 } }

    /// Writes the capture's head.
    func begin() {
        _ = write(writer.header)
    }

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

    /// Closes the file, which is where some file systems tell of errors, and says how the command ends.
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
