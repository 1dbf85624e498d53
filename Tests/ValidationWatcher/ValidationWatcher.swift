import Glibc
import LinuxSystem
import Validation

/// Prints the path and its verdict whenever one of them changes, for tests in network namespaces.
///
/// `validation-watcher [--timeout MILLISECONDS] [--roots FILE] [--proxy URL] [--traffic URL] ENDPOINT...`
///
/// A line has the time (`CLOCK_BOOTTIME`, in nanoseconds), the path's interface or `-`, the number of packets that this has sent,
/// and the verdict.
///
/// Endpoints are URLs that are answered with 204, `tls://HOST:PORT`, or `tcp://HOST:PORT`. With `--traffic`, an observed session
/// requests a URL four times a second.
@main struct ValidationWatcher {
    static func main() async throws {
        let options = Options(CommandLine.arguments.dropFirst())
        let tls = TLSOptions(roots: try options.roots.map { try .only(file: $0) } ?? .system)
        let configuration = ValidationConfiguration(
            endpoints: options.endpoints,
            timeout: options.timeout,
            secondOpinionDelay: min(.seconds(1), options.timeout / 2)
        )
        let proxy = try options.proxy.map { ProxyConfiguration.all(try ProxyServer($0)) } ?? .direct
        let validator = try PathValidator(configuration, tls: tls, proxy: proxy)
        if let traffic = options.traffic { try request(traffic, observedBy: validator) }
        for await change in validator.changes { report(change) }
    }

    private static func request(_ url: String, observedBy validator: PathValidator) throws {
        let timeouts = Timeouts(connect: .milliseconds(500), total: .milliseconds(800))
        let session = try HTTPSession(configuration: validator.observing(.init(timeouts: timeouts, proxy: .direct)))
        Task {
            while true {
                _ = try? await session.get(url).response()
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    private static func report(_ change: ValidationChange) {
        let report = change.validation
        let interface = change.path.interface?.name
        let packets = interface.flatMap(sentPackets) ?? 0
        var words = [
            "\(SystemClock.nanosecondsSinceBoot)", interface ?? "-", "\(packets)", name(of: report.verdict),
        ]
        if report.isNameServerInTrouble { words.append("nameServer") }
        if let nat64 = report.nat64 { words.append("\(nat64.prefix.prefix) \(nat64.source)") }
        print(words.joined(separator: " "))
        fflush(nil)
    }

    /// The number of packets that an interface has sent (proc(5), `/proc/net/dev`); nil if there is no such interface.
    private static func sentPackets(_ interface: String) -> UInt64? {
        guard let file = fopen("/proc/self/net/dev", "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        for line in String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n") {
            let fields = line.split { $0 == " " || $0 == ":" }
            if fields.first == interface[...], fields.count > 10 { return UInt64(fields[10]) }
        }
        return nil
    }

    private static func name(of verdict: ValidationVerdict) -> String {
        switch verdict {
        case .validated: "validated"
        case .portal(let portal): "portal:\(portal.loginURL ?? "")"
        case .noInternet(let reason): reason.name
        case .notChecked: "notChecked"
        }
    }
}

/// The arguments, of which tests give correct ones.
private struct Options {
    var endpoints: [ValidationEndpoint] = []
    var timeout = Duration.seconds(5)
    var roots: String?
    var proxy: String?
    var traffic: String?

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let word = rest.popFirst() {
            switch word {
            case "--timeout": timeout = .milliseconds(rest.popFirst().flatMap { Int($0) } ?? 0)
            case "--roots": roots = rest.popFirst()
            case "--proxy": proxy = rest.popFirst()
            case "--traffic": traffic = rest.popFirst()
            default: endpoints += [Self.endpoint(word)].compactMap(\.self)
            }
        }
    }

    private static func endpoint(_ word: String) -> ValidationEndpoint? {
        guard word.hasPrefix("tcp://") || word.hasPrefix("tls://") else { return .http(word) }
        let parts = word.dropFirst(6).split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else { return nil }
        return word.hasPrefix("tls") ? .tls(String(parts[0]), port: port) : .tcp(String(parts[0]), port: port)
    }
}
