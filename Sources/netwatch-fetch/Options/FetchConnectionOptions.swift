import ArgumentParser
import CommandLineSupport
import NetworkClient

/// How `netwatch fetch` connects, and how long it waits.
struct FetchConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("interface"),
        parsing: .unconditional,
        help: .init("Go through this interface alone, or from this address.", valueName: "name|address"),
        completion: .shellCommand("ls /sys/class/net"),
        transform: BindingArgument.parse
    )
    var binding: LocalBinding = .unbound

    @Option(
        parsing: .unconditional,
        help: .init("Send the request to this Unix socket, whatever the URL's host.", valueName: "path"),
        completion: .file()
    )
    var unixSocket: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Give up when the whole takes longer; without it, when the server is silent for 60s.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var maxTime: Duration?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Give up when the name, the connection or the TLS handshake, each, takes longer.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var connectTimeout: Duration = .seconds(10)

    @Flag(inversion: .prefixedNo, help: "Let the server compress its answer; it is printed decompressed.")
    var compressed = true

    @Option(
        parsing: .unconditional,
        help: .init(
            "Refuse an answer whose body is larger than this; 64M where it is held in memory, else any.",
            valueName: "size"
        ),
        transform: SizeArgument.parse
    )
    var maxSize: Int?
}

extension FetchConnectionOptions {
    /// The limits: whoever says how long the whole may take says how long a server may be silent.
    var timeouts: Timeouts {
        let silence: Duration? = maxTime == nil ? .seconds(60) : nil
        return .init(
            resolve: connectTimeout,
            connect: connectTimeout,
            tls: connectTimeout,
            firstByte: silence,
            read: silence,
            write: silence,
            total: maxTime
        )
    }

    /// Holds `--max-size` against what memory has room for, where an answer is held there.
    ///
    /// - Throws: What to tell the user.
    func checkMemory() throws(ToolError) {
        guard let maxSize, maxSize > SizeArgument.largestInMemory else { return }
        throw .init(
            "--max-size is 1G at most where the answer is held in memory; give less, or -o FILE without --include",
            exit: .usage
        )
    }

    /// The session's configuration.
    func configuration(_ tls: TLSOptions, monitor: any EventMonitor) -> HTTPConfiguration {
        .init(
            headers: [.userAgent: "netwatch/\(CommandLineProgram.version)"],
            timeouts: timeouts,
            tls: tls,
            maximumBodySize: min(maxSize ?? 64 << 20, SizeArgument.largestInMemory),
            decompresses: compressed,
            binding: binding,
            unixSocketPath: unixSocket,
            eventMonitors: [monitor]
        )
    }
}
