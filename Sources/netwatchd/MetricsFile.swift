import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// A file with the metrics, for the textfile collector of Prometheus' node exporter.
struct MetricsFile {
    /// The path.
    let path: String

    /// The interval at which it is written although nothing changed, because times increase.
    static let interval = Duration.seconds(15)

    /// Replaces the file by a new text in one step, so that no reader sees half of it (rename(2)).
    func write(_ text: String) throws(ToolError) {
        let temporary = path + ".new"
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
            let descriptor = try Descriptor("open") { open(temporary, flags, 0o644) }
            // For other users' programs, whatever the umask.
            _ = try retryingOnInterrupt { fchmod(descriptor.number, 0o644) }
            do throws(OutputFailure) {
                try LineOutput(descriptor: descriptor.number).write(text)
            } catch {
                throw error.systemError
            }
            _ = try retryingOnInterrupt { rename(temporary, path) }
        } catch {
            unlink(temporary)
            let name = path.escapedForTerminal
            throw .init(
                "cannot write the metrics to '\(name)': \(error); choose another --metrics-file",
                exit: .outputFailure
            )
        }
    }
}
