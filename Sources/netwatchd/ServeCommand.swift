import ArgumentParser
import CommandLineSupport
import EventCore
import Glibc
import Reachability

/// `netwatch serve`: the event service.
struct ServeCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: CommandSummary.serve,
        discussion: .guide(
            [
                .init("Serve events on /run/netwatch/events.sock", "sudo netwatch serve"),
                .init("Follow them", "curl -N --unix-socket /run/netwatch/events.sock localhost/v1/events"),
                .init(
                    "Serve browsers on this machine, too, at http://127.0.0.1:8787/",
                    "netwatch serve --listen 127.0.0.1:8787"
                ),
                .init(
                    "Let a page of another site read events",
                    "netwatch serve --listen 127.0.0.1:8787 --origin http://localhost:3000"
                ),
                .init("Keep events over restarts", "netwatch serve --journal /var/lib/netwatchd --keep 90d"),
                .init(
                    "Find out whether the path leads to the internet, by a server of yours",
                    "netwatch serve --validate http://status.example.com/generate_204"
                ),
            ],
            """
            Routes: /v1/state, /v1/events, /v1/paths/HOST, /v1/history, /metrics, and / for browsers. Under systemd, sockets are taken \
            over from a \
            socket unit. Exits with 0 on SIGINT or SIGTERM.
            """
        )
    )

    @Option(
        parsing: .unconditional,
        help: .init(
            "Listen on this Unix socket (default: \(UnixSocket.usualPath), unless systemd passes sockets).",
            valueName: "path"
        ),
        completion: .file(),
        transform: SocketArgument.parse
    )
    var socket: String?

    @Option(
        parsing: .unconditional,
        help: .init("Listen on this loopback address, too.", valueName: "address:port"),
        transform: LoopbackAddress.parse
    )
    var listen: LoopbackAddress?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Let pages of this origin read responses. Repeatable.", valueName: "url"),
        transform: OriginArgument.parse
    )
    var origin: [String] = []

    @Option(
        parsing: .unconditional,
        help: .init("Write the metrics to this file, on changes and every 15 s.", valueName: "path"),
        completion: .file()
    )
    var metricsFile: String?

    @Option(
        parsing: .unconditional,
        help: .init("Keep events in this directory, also over restarts.", valueName: "dir"),
        completion: .directory
    )
    var journal: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Remove events from the journal at this age or size (default: 30d and 64MiB). Repeatable.",
            valueName: "limit"
        ),
        transform: KeepArgument.parse
    )
    var keep: [KeepArgument] = []

    @Option(
        parsing: .unconditional,
        help: .init(
            "Send events to the webhooks in this JSON file, through the outbox; -FILE is used only if it exists.",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var webhooks: String?

    @OptionGroup var servers: ValidationOptions

    @Option(
        parsing: .unconditional,
        help: .init(
            "Ask the servers in this JSON file; -FILE is used only if it exists.",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var validation: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if validation != nil, !servers.endpoints.isEmpty {
            throw ValidationError("--validate and --validation exclude each other; name all servers in one place")
        }
        if !keep.isEmpty, journal == nil {
            throw ValidationError("--keep is about the journal; add --journal DIR")
        }
        if webhooks != nil, journal == nil {
            throw ValidationError("--webhooks needs the events of the journal; add --journal DIR")
        }
        if journal?.isEmpty == true {
            throw ValidationError("--journal is empty; write a directory such as /var/lib/netwatchd")
        }
        guard !origin.isEmpty, listen == nil else { return }
        throw ValidationError("--origin is about browsers, which need TCP; add --listen 127.0.0.1:8787")
    }

    /// The path of a file; nil if it need not exist, as after `EnvironmentFile=-`, and does not.
    private static func file(_ option: String?) -> String? {
        guard let option, option.hasPrefix("-") else { return option }
        let path = String(option.dropFirst())
        return access(path, F_OK) == 0 || errno != ENOENT ? path : nil
    }

    /// The arguments of `netwatch-validate`; nil if paths are not validated.
    private func validatorArguments() throws(ToolError) -> [String]? {
        if let arguments = servers.processArguments(common) { return arguments }
        guard let path = Self.file(validation) else { return nil }
        return try ValidatorConfiguration.read(path).arguments + common.arguments
    }

    func execute() throws(ToolError) -> ExitStatus {
        try EventDaemon(
            socket: socket,
            listen: listen,
            origins: origin,
            metricsFile: metricsFile.map { MetricsFile(path: $0) },
            journal: journal.map { JournalOptions(folder: $0, limits: keep) },
            webhooks: try Self.file(webhooks).map { (path) throws(ToolError) in try WebhookConfiguration.read(path) },
            validatorArguments: validatorArguments(),
            configuration: common.configuration
        ).run()
    }
}

/// Reads the path of a Unix socket, as `--socket` takes it.
enum SocketArgument {
    /// Reads a path.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> String {
        guard text.hasPrefix("/") else {
            throw .init("it is not absolute; write a path such as \(UnixSocket.usualPath)")
        }
        guard text.utf8.count < 108 else {
            throw .init("it has more than 107 bytes, the kernel's limit; choose a shorter path")
        }
        return text
    }
}

/// Reads an origin, as `--origin` takes it.
enum OriginArgument {
    /// Reads an origin.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> String {
        guard let origin = AccessRules.origin(text) else {
            throw .init("it is no origin; write scheme, host and port as in http://localhost:3000, without a path")
        }
        return origin
    }
}
