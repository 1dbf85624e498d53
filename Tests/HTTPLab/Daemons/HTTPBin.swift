import Glibc
import NetworkLab

/// A real httpbin, whose Digest can include the body (`auth-int`): `/digest-auth/QOP/USER/PASSWORD/ALGORITHM` is for that
/// user, and `/headers` tells what it was sent.
package final class HTTPBin: Sendable {
    private let daemon: ServerDaemon

    /// Its origin, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(daemon.port)" }

    /// Starts it.
    ///
    /// - Throws: What it said, if it does not start.
    package init() throws {
        guard Self.isInstalled else { throw LabError("start httpbin", errno: 2, detail: Self.advice) }
        daemon = try ServerDaemon(Self.python, arguments: [ServerDaemon.file], sign: "Running on http://") { _, port in
            "from httpbin import app\napp.run(host='127.0.0.1', port=\(port), threaded=True)\n"
        }
    }

    /// Debian's own, whose packages no other one finds.
    private static let python = "/usr/bin/python3"

    /// Whether there is one; a test that needs it is `.enabled(if: HTTPBin.isInstalled, …)` with ``advice``.
    package static let isInstalled = access("/usr/lib/python3/dist-packages/httpbin/core.py", R_OK) == 0

    /// What to do where there is none.
    package static let advice = "httpbin is not installed: run scripts/setup --for-tests"
}
