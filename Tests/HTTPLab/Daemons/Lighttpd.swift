import NetworkLab

/// A real lighttpd, whose Digest knows SHA-256: `/file` is for `mufasa` with the password `circle`, and for the user
/// `J\u{E4}s\u{F8}n Doe` with the password `Secret, or not?`.
package final class Lighttpd: Sendable {
    private let daemon: ServerDaemon

    /// Its origin, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(daemon.port)" }

    /// Starts it.
    ///
    /// - Parameter algorithms: The hash functions that it offers, as its configuration names them.
    /// - Throws: What it said, if it does not start.
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

    /// Whether there is one; a test that needs it is `.enabled(if: Lighttpd.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// What to do where there is none.
    package static let advice = "lighttpd is not installed: run scripts/setup --for-tests"
}
