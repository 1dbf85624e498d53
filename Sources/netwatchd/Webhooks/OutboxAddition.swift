import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore

/// `netwatch-outbox add`, which puts a message on disk.
///
/// A process of its own, so that the service links neither TLS nor an HTTP client, and may do without the internet.
struct OutboxAddition: Sendable {
    /// The folder of the outbox.
    let folder: String
    /// The path of the executable.
    var path = ExecutableDirectory.path + "/netwatch-outbox"

    /// Adds a message, and returns when it is on disk.
    func add(_ message: WebhookMessage, for webhook: Webhook) throws(ToolError) {
        let fields = message.fields.flatMap { ["--header", $0] }
        let options = [
            "--box", folder, "--lane", "netwatch-\(webhook.name)", "--ordered", "--key", message.key,
            "--content-type", webhook.contentType, "--data", "-",
        ]
        let status: Int32
        do throws(SystemError) {
            // Every user can read arguments, and a URL is often the only secret of a webhook.
            let input = try Self.file(with: "\(webhook.url)\n\(message.body)")
            status = try HelperProcess.start([path, "add"] + options + fields + ["-"], input: input.number).wait()
        } catch {
            throw .init("cannot execute '\(path.escapedForTerminal)': \(error); install it", exit: .notExecutable)
        }
        guard status == 0 else {
            let name = folder.escapedForTerminal
            throw .init("the outbox '\(name)' does not take the messages of webhooks; see above", exit: .outputFailure)
        }
    }

    /// Returns a file in memory, at its beginning (memfd_create(2)).
    private static func file(with text: String) throws(SystemError) -> Descriptor {
        let file = try Descriptor("memfd_create") { memfd_create("netwatch-webhook", netwatch_memfd_cloexec) }
        var bytes = ArraySlice(text.utf8)
        while !bytes.isEmpty {
            let count = try retryingOnInterrupt("write") {
                bytes.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            }
            bytes.removeFirst(count)
        }
        lseek(file.number, 0, SEEK_SET)
        return file
    }
}
