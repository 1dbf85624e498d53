import Glibc
import NetworkLab

/// An httpbin server, whose Digest can include the body (`auth-int`): `/digest-auth/QOP/USER/PASSWORD/ALGORITHM`
/// requires that user, and `/headers` returns the fields of the request.
package final class HTTPBin: Sendable {
    private let daemon: ServerDaemon

    /// The origin, without a trailing slash.
    package var url: String { "http://127.0.0.1:\(daemon.port)" }

    /// Starts the server.
    ///
    /// - Throws: The server's output, if it does not start.
    package init() throws {
        guard Self.isInstalled else { throw LabError("start httpbin", errno: 2, detail: Self.advice) }
        daemon = try ServerDaemon(Self.python, arguments: [ServerDaemon.file], sign: "Running on http://") { _, port in
            "from httpbin import app\napp.run(host='127.0.0.1', port=\(port), threaded=True)\n"
        }
    }

    /// Debian's Python, which is the one that finds Debian's packages.
    private static let python = "/usr/bin/python3"

    /// Whether it is installed; tests use `.enabled(if: HTTPBin.isInstalled, …)` with ``advice``.
    package static let isInstalled = access("/usr/lib/python3/dist-packages/httpbin/core.py", R_OK) == 0

    /// The advice for machines where it is not installed.
    package static let advice = "httpbin is not installed: run scripts/setup --for-tests"
}
