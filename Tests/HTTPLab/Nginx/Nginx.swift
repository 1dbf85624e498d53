import Glibc
package import NetworkLab

/// A real nginx as a child of the test, in a temporary folder of its own, on free ports of 127.0.0.1.
///
/// It serves the files of ``files``, over HTTP and, with a certificate, over TLS. `/status` tells of its connections,
/// `/accept` takes any body and answers `ok`. It ends with its last owner, or by ``stop()``.
package final class Nginx: Sendable {
    /// How it is set up.
    package struct Options: Sendable {
        /// The certificate chain and its key, PEM files; nil for no TLS.
        package var certificate: (chain: String, key: String)?
        /// The certificate by which clients' are checked, a PEM file; nil to ask for none.
        package var clientAuthority: String?
        /// What `ssl_protocols` says.
        package var protocols = "TLSv1.2 TLSv1.3"
        /// How long an idle connection is kept, in seconds.
        package var keepAlive = 65
        /// How many requests a connection may carry.
        package var requestsPerConnection = 1_000_000
        /// Lines put into each `server` block as they are.
        package var directives: [String] = []

        /// The defaults: no TLS, long-lived connections.
        package init() {}
    }

    /// The port for HTTP.
    package let port: UInt16
    /// The port for HTTP over TLS; 0 without a certificate.
    package let securePort: UInt16
    /// Its files' folder.
    package let files: LabFolder
    private let root: LabFolder
    private let reserved: [ReservedPort]
    private let process: LabProcess

    /// Starts it and waits until it serves.
    ///
    /// - Parameters:
    ///   - options: How it is set up.
    ///   - namespace: The network namespace in which it runs; nil for the test's own.
    /// - Throws: What it said, if it does not start.
    package init(_ options: Options = Options(), in namespace: LabNamespace? = nil) throws {
        guard let program = Self.program else { throw LabError("start nginx", errno: ENOENT, detail: Self.advice) }
        let start = {
            let reserved = [try ReservedPort(), try ReservedPort()]
            let files = try LabFolder()
            let root = try LabFolder()
            let text = Self.configuration(options, reserved.map(\.number), files: files.path, root: root.path)
            let arguments = ["-p", root.path, "-e", "stderr", "-c", try root.write("nginx.conf", text)]
            // What it says, it says on stderr, and LabProcess waits for what comes on the standard output.
            let process = try LabProcess("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments)
            return (reserved, files, root, process)
        }
        (reserved, files, root, process) = try namespace.map { try $0.run(start) } ?? start()
        port = reserved[0].number
        securePort = options.certificate == nil ? 0 : reserved[1].number
        // It says so when it has begun to listen.
        try process.waitForOutput { $0.contains("using the \"epoll\" event method") }
    }

    /// Its process.
    package var identifier: Int32 { process.identifier }

    /// Ends it in order, and waits for its end.
    package func stop() throws {
        try process.send(SIGTERM)
        _ = try process.finish()
    }

    /// The file of an installed nginx; nil where there is none.
    ///
    /// Debian keeps it in a directory that a user's PATH has not.
    package static let program: String? = {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/nginx" }.first { access($0, X_OK) == 0 }
    }()

    /// Whether there is one; a test that needs it is `.enabled(if: Nginx.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// What to do where there is none.
    package static let advice = "nginx is not installed: run scripts/setup --for-tests"
}
