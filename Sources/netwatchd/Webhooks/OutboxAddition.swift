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
            status = try Self.run([path, "add"] + options + fields + ["-"], input)
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

    /// Runs a command to its end, without its stdout (posix_spawn(3)).
    ///
    /// - Parameters:
    ///   - words: Its path and arguments.
    ///   - input: The file that is its stdin.
    /// - Returns: Its exit status; 128 plus the number of the signal that ended it.
    /// - Throws: The errno if it can't be started.
    private static func run(_ words: [String], _ input: borrowing Descriptor) throws(SystemError) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_RDWR, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This thread has all signals blocked.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var id = pid_t()
        let failure = posix_spawn(&id, words[0], &actions, &attributes, &arguments, environ)
        guard failure == 0 else { throw .init(code: failure) }
        var status: Int32 = 0
        let process = id
        _ = try retryingOnInterrupt { waitpid(process, &status, 0) }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
