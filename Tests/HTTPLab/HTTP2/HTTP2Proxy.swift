import Glibc
import NetworkLab

/// nghttpx as a server of HTTP/2 in front of one of HTTP/1.1, on a free port of 127.0.0.1.
///
/// It allows WebSockets on streams (RFC 8441), and passes them to the server as it knows them.
package final class HTTP2Proxy: Sendable {
    /// The origin, without a trailing slash.
    package let url: String
    private let daemon: ServerDaemon

    /// Starts the proxy.
    ///
    /// - Parameters:
    ///   - port: The port of the server with HTTP/1.1.
    ///   - identity: The certificate; nil for plain TCP.
    /// - Throws: The proxy's output, if it does not start.
    package init(toPort port: UInt16, identity: MintedIdentity? = nil) throws {
        guard let program = Self.program else { throw LabError("start nghttpx", errno: ENOENT, detail: Self.advice) }
        daemon = try ServerDaemon(program, arguments: ["--conf", ServerDaemon.file], sign: "Listening on") {
            folder,
            own in
            let files = try identity?.write(to: folder)
            let tls = files.map { "private-key-file=\($0.key)\ncertificate-file=\($0.chain)\nno-ocsp=yes" } ?? ""
            return """
                frontend=127.0.0.1,\(own)\(identity == nil ? ";no-tls" : "")
                backend=127.0.0.1,\(port)
                single-process=yes
                workers=1
                frontend-http2-settings-timeout=600
                \(tls)

                """
        }
        url = "\(identity == nil ? "http" : "https")://127.0.0.1:\(daemon.port)"
    }

    private static let program = ServerDaemon.find("nghttpx")

    /// Whether it is installed; tests use `.enabled(if: HTTP2Proxy.isInstalled, …)` with ``advice``.
    package static var isInstalled: Bool { program != nil }

    /// The advice for machines where it is not installed.
    package static let advice = "nghttpx is not installed: run scripts/setup --for-tests"
}
