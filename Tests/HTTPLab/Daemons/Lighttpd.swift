import NetworkLab

/// A lighttpd server, whose Digest supports SHA-256: `/file` requires `mufasa` with the password `circle`, or the user
/// `J\u{E4}s\u{F8}n Doe` with the password `Secret, or not?`.
package final class Lighttpd: Sendable {
    private let daemon: ServerDaemon

    /// The origin, without a trailing slash.
    package var url: String { "http://127.0.0.1:\(daemon.port)" }

    /// Starts the server.
    ///
    /// - Parameter algorithms: The hash functions that it offers, by the names of its configuration.
    /// - Throws: The server's output, if it does not start.
    package init(algorithms: String) throws {
        guard let program = Self.program else { throw LabError("start lighttpd", errno: 2, detail: Self.advice) }
        daemon = try ServerDaemon(program, arguments: ["-D", "-f", ServerDaemon.file], sign: "server started") {
            folder,
            port in
            try folder.write("www/file", "from file")
            try folder.write("users", "mufasa:circle\nJ\u{E4}s\u{F8}n Doe:Secret, or not?\n")
            return """
                server.modules = ( "mod_auth", "mod_authn_file" )
                server.document-root = "\(folder.path)/www"
                server.bind = "127.0.0.1"
                server.port = \(port)
                server.max-keep-alive-idle = 600
                server.max-keep-alive-requests = 100000
                auth.backend = "plain"
                auth.backend.plain.userfile = "\(folder.path)/users"
                auth.require = ( "/" => (
                    "method" => "digest", "realm" => "lions", "require" => "valid-user", "algorithm" => "\(algorithms)"
                ) )
                """
        }
    }

    private static let program = ServerDaemon.find("lighttpd")

    /// Whether it is installed; tests use `.enabled(if: Lighttpd.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// The advice for machines where it is not installed.
    package static let advice = "lighttpd is not installed: run scripts/setup --for-tests"
}
