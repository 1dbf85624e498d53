import Crypto
import FoundationEssentials
import NetworkLab

/// An Apache httpd: `/digest/file` and `/basic/file` require the user `mufasa` with the password `circle`, as does
/// every path below them; `/file` is public.
package final class Apache: Sendable {
    private let daemon: ServerDaemon

    /// The realm of both protection spaces.
    package static let realm = "lions"

    /// The origin, without a trailing slash.
    package var url: String { "http://127.0.0.1:\(daemon.port)" }

    /// Starts the server.
    ///
    /// - Parameter predecessor: A stopped server, whose port is reused; the nonces that it issued are no longer
    ///     valid.
    /// - Throws: The server's output, if it does not start.
    package init(after predecessor: Apache? = nil) throws {
        guard let program = Self.program else { throw LabError("start apache2", errno: 2, detail: Self.advice) }
        daemon = try ServerDaemon(
            program,
            arguments: ["-f", ServerDaemon.file, "-DFOREGROUND"],
            sign: "resuming normal operations",
            after: predecessor?.daemon
        ) { folder, port in
            for path in ["digest/file", "digest/deep/file", "basic/file", "basic/deep/file", "file"] {
                try folder.write("www/\(path)", "from \(path)")
            }
            let key = Self.hexadecimal(Insecure.MD5.hash(data: Array("mufasa:\(Self.realm):circle".utf8)))
            try folder.write("digest.users", "mufasa:\(Self.realm):\(key)\n")
            let hash = Data(Insecure.SHA1.hash(data: Array("circle".utf8))).base64EncodedString()
            try folder.write("basic.users", "mufasa:{SHA}\(hash)\n")
            return Self.configuration(folder.path, port)
        }
    }

    /// Stops the server in order, and waits for its end.
    package func stop() throws { try daemon.stop() }

    private static let program = ServerDaemon.find("apache2")

    /// Whether it is installed; tests use `.enabled(if: Apache.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// The advice for machines where it is not installed.
    package static let advice = "apache2 is not installed: run scripts/setup --for-tests"

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest",
        ]
        let lines = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
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
            MaxKeepAliveRequests 0
            <Location /digest>
                AuthType Digest
                AuthName "\(realm)"
                AuthDigestProvider file
                AuthUserFile "\(folder)/digest.users"
                Require valid-user
            </Location>
            <Location /basic>
                AuthType Basic
                AuthName "\(realm)"
                AuthUserFile "\(folder)/basic.users"
                Require valid-user
            </Location>
            """
    }
}
