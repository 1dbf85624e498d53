import ArgumentParser
import CommandLineSupport
import NetwatchCore
import NetworkClient
import ReachabilityCore

/// The connection options and timeouts of `netwatch fetch`.
struct FetchConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("interface"),
        parsing: .unconditional,
        help: .init("Use only this interface, or this source address.", valueName: "name|address"),
        completion: .shellCommand("ls /sys/class/net"),
        transform: BindingArgument.parse
    )
    var binding: LocalBinding = .unbound

    @Option(
        parsing: .unconditional,
        help: .init("Connect to this Unix socket instead of the URL's host.", valueName: "path"),
        completion: .file()
    )
    var unixSocket: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Limit the whole request; without it, give up when the server is silent for 60s.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var maxTime: Duration?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Limit name resolution, connection and TLS handshake, each.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var connectTimeout: Duration = .seconds(10)

    @Flag(exclusivity: .chooseLast)
    var version = FetchVersion.http2

    @Flag(inversion: .prefixedNo, help: "Accept a compressed response; it is printed decompressed.")
    var compressed = true

    @Option(
        parsing: .unconditional,
        help: .init(
            "Refuse larger response bodies (default: 64M in memory, else none).",
            valueName: "size"
        ),
        transform: SizeArgument.parse
    )
    var maxSize: Int?
}

extension FetchConnectionOptions {
    /// The timeouts: `--max-time` replaces the timeouts for a silent server.
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

    /// Checks `--max-size` against the maximum for memory, for a response that is held there.
    ///
    /// - Throws: The error for the user.
    func checkMemory() throws(ToolError) {
        guard let maxSize, maxSize > SizeArgument.largestInMemory else { return }
        throw .init(
            "--max-size is 1G at most where the response is held in memory; give less, or -o FILE without --include",
            exit: .usage
        )
    }

    /// The session's configuration.
    func configuration(_ tls: TLSOptions, monitor: any EventMonitor) -> HTTPConfiguration {
        .init(
            headers: [.userAgent: "netwatch/\(CommandLineProgram.version)"],
            timeouts: timeouts,
            tls: tls,
            http2: version.policy,
            maximumBodySize: min(maxSize ?? 64 << 20, SizeArgument.largestInMemory),
            decompresses: compressed,
            binding: binding,
            unixSocketPath: unixSocket,
            eventMonitors: [monitor]
        )
    }
}

/// The versions of HTTP, as curl's options name them.
enum FetchVersion: EnumerableFlag {
    case http2, http1, priorKnowledge

    static func name(for value: Self) -> NameSpecification {
        switch value {
        case .http2: .customLong("http2")
        case .http1: .customLong("http1.1")
        case .priorKnowledge: .customLong("http2-prior-knowledge")
        }
    }

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .http2: "Use HTTP/2 over TLS where the server selects it (default)."
        case .http1: "Use HTTP/1.1."
        case .priorKnowledge: "Use HTTP/2 without TLS too, which the server has to speak."
        }
    }

    /// The session's setting.
    var policy: HTTP2Policy {
        switch self {
        case .http2: .automatic
        case .http1: .off
        case .priorKnowledge: .priorKnowledge
        }
    }
}

/// Parses `NAME|ADDRESS`, the value of `--interface`.
enum BindingArgument {
    /// Parses an interface's name or a source address.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> LocalBinding {
        if let address = IPAddress(text) { return .address(address.description) }
        // IFNAMSIZ, and the characters that the kernel rejects (dev_valid_name in net/core/dev.c).
        let isName = (1...15).contains(text.utf8.count) && !text.contains { "/: ".contains($0) || $0.isWhitespace }
        guard isName else { throw .init("it is neither an interface nor an address; write wwan0 or 192.0.2.2") }
        return .interface(text)
    }
}

/// Parses sizes: a number of bytes, with `K`, `M`, `G` or `T` for powers of 1024.
enum SizeArgument {
    /// The maximum size of a body in memory, in bytes.
    static let largestInMemory = 1 << 30

    /// Parses a size in bytes.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Int {
        let digits = text.prefix { $0.isASCIIDigit }
        let unit = try unit(text[digits.endIndex...])
        guard !digits.isEmpty else { throw .init("it does not begin with a number; \(howTo)") }
        guard let number = Int(digits), number <= .max / unit else {
            throw .init("it is too large; leave it out where there is no bound")
        }
        return number * unit
    }

    private static func unit(_ name: Substring) throws(ArgumentError) -> Int {
        switch name {
        case "": return 1
        case "K", "k": return 1 << 10
        case "M", "m": return 1 << 20
        case "G", "g": return 1 << 30
        case "T", "t": return 1 << 40
        default: throw .init("'\(name.escapedForTerminal)' is not a unit (K, M, G, T); \(howTo)")
        }
    }

    private static let howTo = "write a number of bytes, such as 500000, 64M or 1G"
}
