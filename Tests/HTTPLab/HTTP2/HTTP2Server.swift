import Glibc
import NetworkLab

/// A server of HTTP/2 in a temporary folder, on a free port of 127.0.0.1.
///
/// It serves `small.txt` of 1,000 bytes and `large.bin` of 1,000,000 bytes, over TLS with ALPN or over plain TCP with
/// prior knowledge.
package final class HTTP2Server: Sendable {
    /// The programs.
    package enum Program: String, Sendable, CaseIterable {
        case nghttpd, nginx, apache2, h2o, caddy
    }

    /// The origin, without a trailing slash.
    package let url: String
    /// The port.
    package var port: UInt16 { daemon.port }
    private let daemon: ServerDaemon
    /// How connections have ended, by the server's output: only of a verbose nghttpd.
    package var endsOfConnections: [String] {
        get throws {
            let lines = try daemon.output.split(separator: "\n")
            return lines.indices.filter { lines[$0].contains("GOAWAY") || lines[$0].contains("error: ") }.map {
                lines[$0...].prefix(2).joined(separator: " ")
            }
        }
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - identity: The certificate; nil for plain TCP.
    ///   - streams: The maximum number of concurrent streams; nil for the program's default. Not for Caddy.
    ///   - requests: The maximum number of requests of a connection; nil for the program's default. Only for nginx.
    ///   - isVerbose: Whether it notes each frame. Only for nghttpd.
    /// - Throws: The server's output, if it does not start.
    package init(
        _ program: Program,
        identity: MintedIdentity? = nil,
        streams: Int? = nil,
        requests: Int? = nil,
        isVerbose: Bool = false
    ) throws {
        guard let path = Self.path(of: program) else {
            throw LabError("start \(program.rawValue)", errno: ENOENT, detail: Self.advice)
        }
        var plan = Plan(program, isSecure: identity != nil, streams: streams, requests: requests)
        plan.isVerbose = isVerbose
        let launcher = program == .h2o ? ServerDaemon.find("unshare") : nil
        let arguments = { (folder: String, port: UInt16, file: String) in
            // h2o wants to change its user where it is root, which a test's namespace does not allow.
            let prefix = launcher == nil ? [] : ["--user", "--map-user=1000", "--map-group=1000", path]
            return prefix + plan.arguments(folder, port, file)
        }
        daemon = try ServerDaemon(launcher ?? path, argumentsForPort: arguments, sign: plan.sign) { folder, port in
            try folder.write("www/small.txt", String(repeating: "x", count: 1000))
            try folder.write("www/large.bin", [UInt8](repeating: 0x61, count: 1_000_000))
            let files = try identity?.write(to: folder)
            return plan.configuration(folder.path, port, files)
        }
        url = "\(identity == nil ? "http" : "https")://127.0.0.1:\(daemon.port)"
    }

    /// Stops the server in order, and waits for its end.
    package func stop() throws { try daemon.stop() }

    private static func path(of program: Program) -> String? { ServerDaemon.find(program.rawValue) }

    /// Whether all programs are installed; tests use `.enabled(if: HTTP2Server.areInstalled, …)` with ``advice``.
    package static var areInstalled: Bool { Program.allCases.allSatisfy { path(of: $0) != nil } }

    /// The advice for machines where one is not installed.
    package static let advice = "a server of HTTP/2 is not installed: run scripts/setup --for-tests"
}

/// The arguments and the configuration of one program.
private struct Plan {
    let program: HTTP2Server.Program
    let isSecure: Bool
    let streams: Int?
    let requests: Int?
    var isVerbose = false

    init(_ program: HTTP2Server.Program, isSecure: Bool, streams: Int?, requests: Int?) {
        (self.program, self.isSecure, self.streams, self.requests) = (program, isSecure, streams, requests)
    }

    /// The output that means that the server is ready.
    var sign: String {
        switch program {
        case .nghttpd: ""
        case .nginx: "using the \"epoll\" event method"
        case .apache2: "resuming normal operations"
        case .h2o: "is ready to serve requests"
        case .caddy: "serving initial configuration"
        }
    }

    func arguments(_ folder: String, _ port: UInt16, _ file: String) -> [String] {
        switch program {
        case .nghttpd:
            (isVerbose ? ["-v"] : []) + ["-a", "127.0.0.1", "-d", "\(folder)/www"]
                + (streams.map { ["-m", "\($0)"] } ?? [])
                + (isSecure ? ["\(port)", "\(folder)/server.key", "\(folder)/server.pem"] : ["--no-tls", "\(port)"])
        case .nginx: ["-p", folder, "-e", "stderr", "-c", file]
        case .apache2: ["-f", file, "-DFOREGROUND"]
        case .h2o: ["-c", file]
        case .caddy: ["run", "--config", file, "--adapter", "caddyfile"]
        }
    }

    func configuration(_ folder: String, _ port: UInt16, _ files: (chain: String, key: String)?) -> String {
        switch program {
        case .nghttpd: ""
        case .nginx: nginx(folder, port, files)
        case .apache2: apache(folder, port, files)
        case .h2o: h2o(folder, port, files)
        case .caddy: caddy(folder, port, files)
        }
    }

    private func nginx(_ folder: String, _ port: UInt16, _ files: (chain: String, key: String)?) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let tls = files.map { "ssl_certificate \($0.chain); ssl_certificate_key \($0.key);" } ?? ""
        return """
            user root; daemon off; master_process off; pid \(folder)/pid; error_log stderr notice;
            events { worker_connections 1024; }
            http {
                access_log off; root \(folder)/www; keepalive_requests \(requests ?? 1_000_000);
                http2_max_concurrent_streams \(streams ?? 128); client_max_body_size 0;
                \(temporary.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port) \(isSecure ? "ssl" : "") http2; \(tls)
                    location = /accept { return 200 'ok'; }
                }
            }
            """
    }

    private func apache(_ folder: String, _ port: UInt16, _ files: (chain: String, key: String)?) -> String {
        let modules = ["mpm_event", "authz_core", "http2", "ssl", "socache_shmcb"]
        let lines = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let tls = files.map {
            "SSLEngine on\nSSLCertificateFile \"\($0.chain)\"\nSSLCertificateKeyFile \"\($0.key)\""
        }
        return """
            \(lines.joined(separator: "\n"))
            ServerRoot "\(folder)"
            PidFile "\(folder)/pid"
            DefaultRuntimeDir "\(folder)"
            ServerName localhost
            Listen 127.0.0.1:\(port)
            DocumentRoot "\(folder)/www"
            ErrorLog "|/bin/cat"
            LogLevel notice
            StartServers 1
            Timeout 600
            KeepAliveTimeout 600
            Protocols h2 h2c http/1.1
            H2MaxSessionStreams \(streams ?? 100)
            \(tls ?? "")
            """
    }

    private func h2o(_ folder: String, _ port: UInt16, _ files: (chain: String, key: String)?) -> String {
        let tls = files.map { "\n  ssl:\n    certificate-file: \($0.chain)\n    key-file: \($0.key)" } ?? ""
        return """
            num-threads: 1
            handshake-timeout: 600
            http1-request-timeout: 600
            http2-idle-timeout: 600
            http2-max-concurrent-requests-per-connection: \(streams ?? 100)
            listen:
              host: 127.0.0.1
              port: \(port)\(tls)
            hosts:
              default:
                paths:
                  /:
                    file.dir: \(folder)/www
            """
    }

    private func caddy(_ folder: String, _ port: UInt16, _ files: (chain: String, key: String)?) -> String {
        let tls = files.map { "tls \($0.chain) \($0.key)" } ?? ""
        return """
            {
                admin off
                auto_https off
                storage file_system \(folder)/storage
                servers {
                    protocols h1 h2 h2c
                }
            }
            \(isSecure ? "https" : "http")://127.0.0.1:\(port) {
                bind 127.0.0.1
                \(tls)
                root * \(folder)/www
                file_server
            }
            """
    }
}
