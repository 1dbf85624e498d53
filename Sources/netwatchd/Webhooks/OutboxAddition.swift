import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore

/// `netwatch-outbox add`, which puts a message on disk.
///
/// A process of its own, so that the service links neither TLS nor an HTTP client, and may do without the internet.
final class OutboxAddition: Sendable {
    /// The folder of the outbox.
    private let folder: String
    /// The path of the executable.
    private let path: String
    private let state = Lock(State())

    private struct State {
        /// The process that adds a message; nil if there is none.
        var process: HelperProcess?
        var isCancelled = false
    }

    /// Creates the command.
    ///
    /// - Parameters:
    ///   - folder: The folder of the outbox.
    ///   - path: The path of the executable.
    init(folder: String, path: String = ExecutableDirectory.path + "/netwatch-outbox") {
        (self.folder, self.path) = (folder, path)
    }

    /// The exit status if the lane has another request with this key.
    private static let keyInUse: Int32 = 2

    /// Adds a message, and returns when it is on disk.
    ///
    /// A message with its key is that of the same event, added before the configuration or the machine's name changed.
    func add(_ message: WebhookMessage, for webhook: Webhook) throws(ToolError) {
        let fields = message.fields.flatMap { ["--header", $0] }
        let options = [
            "--box", folder, "--lane", "netwatch-\(webhook.name)", "--move-lane", "--ordered", "--key", message.key,
            "--content-type", webhook.contentType, "--data", "-",
        ]
        let trust = webhook.trustsHTTP ? ["--trust-http"] : []
        let status: Int32
        do throws(SystemError) {
            // Every user can read arguments, and a URL is often the only secret of a webhook.
            let input = try Self.file(with: "\(webhook.url)\n\(message.body)")
            status = try run([path, "add"] + options + trust + fields + ["-"], input: input.number)
        } catch {
            throw .init("cannot execute '\(path.escapedForTerminal)': \(error); install it", exit: .notExecutable)
        }
        guard status == 0 || status == Self.keyInUse else {
            let what = "the outbox '\(folder.escapedForTerminal)' does not take the messages of the webhook"
            throw .init("\(what) '\(webhook.name)'; see above", exit: .outputFailure)
        }
    }

    /// Ends the process that adds a message, and lets no other start; from any thread.
    ///
    /// A message that is on disk all the same has the same key when it is added again.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.process?.kill()
        }
    }

    private func run(_ words: [String], input: Int32) throws(SystemError) -> Int32 {
        let process = try state.withLock { (state) throws(SystemError) -> HelperProcess in
            guard !state.isCancelled else { throw .init(code: ECANCELED) }
            let process = try HelperProcess.start(words, input: input)
            state.process = process
            return process
        }
        // Once its end is taken, its number may be that of another process.
        try? process.waitForEnd()
        state.withLock { $0.process = nil }
        return try process.wait()
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
