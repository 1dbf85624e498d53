import Glibc
package import NetworkLab

/// An nginx as a child process of the test, in a temporary folder, on free ports of 127.0.0.1.
///
/// It serves the files of ``files``, over HTTP and, with a certificate, over TLS. `/status` returns its connections,
/// `/accept` accepts any body and returns `ok`. It is stopped by ``stop()``, or when its last reference is released.
package final class Nginx: Sendable {
    /// The configuration.
    package struct Options: Sendable {
        /// The certificate chain and its key, PEM files; nil for no TLS.
        package var certificate: (chain: String, key: String)?
        /// The certificate that verifies client certificates, a PEM file; nil to request none.
        package var clientAuthority: String?
        /// The value of `ssl_protocols`.
        package var protocols = "TLSv1.2 TLSv1.3"
        /// The timeout of an idle connection, in seconds.
        package var keepAlive = 65
        /// The maximum number of requests per connection.
        package var requestsPerConnection = 1_000_000
        /// Further lines of each `server` block.
        package var directives: [String] = []

        /// Creates the defaults: no TLS, long-lived connections.
        package init() {}
    }

    /// The port for HTTP.
    package let port: UInt16
    /// The port for HTTP over TLS; 0 without a certificate.
    package let securePort: UInt16
    /// The folder of the files that it serves.
    package let files: LabFolder
    private let root: LabFolder
    private let reserved: [ReservedPort]
    private let process: LabProcess

    /// Starts nginx and waits until it listens.
    ///
    /// - Parameters:
    ///   - options: The configuration.
    ///   - namespace: The network namespace in which it runs; nil for the test's own.
    /// - Throws: The server's output, if it does not start.
    package init(_ options: Options = Options(), in namespace: LabNamespace? = nil) throws {
        guard let program = Self.program else { throw LabError("start nginx", errno: ENOENT, detail: Self.advice) }
        let start = {
            let reserved = [try ReservedPort(), try ReservedPort()]
            let files = try LabFolder()
            let root = try LabFolder()
            let text = Self.configuration(options, reserved.map(\.number), files: files.path, root: root.path)
            let arguments = ["-p", root.path, "-e", "stderr", "-c", try root.write("nginx.conf", text)]
            // nginx writes to stderr, and LabProcess waits for text on the standard output.
            let process = try LabProcess("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments)
            return (reserved, files, root, process)
        }
        (reserved, files, root, process) = try namespace.map { try $0.run(start) } ?? start()
        port = reserved[0].number
        securePort = options.certificate == nil ? 0 : reserved[1].number
        // nginx writes this once it listens.
        try process.waitForOutput { $0.contains("using the \"epoll\" event method") }
    }

    /// Starts nginx with a certificate for this machine, as by ``init(_:in:)``.
    ///
    /// - Parameters:
    ///   - authority: The issuer of the certificate.
    ///   - directives: Further lines of each `server` block.
    ///   - namespace: The network namespace in which it runs; nil for the test's own.
    /// - Throws: The server's output, if it does not start.
    package convenience init(
        certifiedBy authority: CertificateAuthority,
        directives: [String] = [],
        in namespace: LabNamespace? = nil
    ) throws {
        // It reads them before it listens.
        let folder = try LabFolder()
        var options = Options()
        options.certificate = try authority.issue().write(to: folder)
        options.directives = directives
        try self.init(options, in: namespace)
    }

    /// The process.
    package var identifier: Int32 { process.identifier }

    /// Stops the server in order, and waits for its end.
    package func stop() throws {
        try process.send(SIGTERM)
        _ = try process.finish()
    }

    /// The path of an installed nginx; nil if there is none.
    ///
    /// Debian installs it in a directory that is not in a user's PATH.
    package static let program: String? = {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/nginx" }.first { access($0, X_OK) == 0 }
    }()

    /// Whether it is installed; tests use `.enabled(if: Nginx.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// The advice for machines where it is not installed.
    package static let advice = "nginx is not installed: run scripts/setup --for-tests"
}
