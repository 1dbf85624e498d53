import Glibc
package import NetworkLab

/// A proxy from a Debian package, as a child process of the test, on a free port of 127.0.0.1 in the test's namespace.
///
/// It is stopped when its last reference is released.
package final class RealProxy: Sendable {
    /// The program.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP; closes its connections, and tunnels only to the configured ports.
        case tinyproxy
        /// HTTP; keeps its connections open, and can require Digest.
        case squid
        /// SOCKS 5.
        case microsocks
    }

    /// The configuration.
    package struct Options: Sendable {
        /// The user; nil for no authentication.
        package var user: String?
        /// The password.
        package var password = ""
        /// Whether squid requires Digest (RFC 7616) instead of Basic.
        package var isDigest = false
        /// The keys by which squid requires Negotiate, with Kerberos; nil for another scheme or none.
        package var keytab: String?
        /// The ports to which tinyproxy and squid permit tunnels.
        package var ports: [UInt16] = []
        /// The certificate chain and its key, PEM files, for squid's TLS port.
        package var certificate: (chain: String, key: String)?

        /// Creates the defaults: no authentication, tunnels to no port.
        package init() {}
    }

    /// The port.
    package let port: UInt16
    /// Squid's TLS port, if it has a certificate.
    package static let squidSecurePort: UInt16 = 3129
    private let folder: LabFolder
    private let process: LabProcess

    /// Starts the proxy and waits until it listens.
    ///
    /// - Throws: Its output, if it fails.
    package init(_ kind: Kind, _ options: Options = Options(), in namespace: LabNamespace) throws {
        guard let program = Self.program(kind.rawValue) else {
            throw LabError("start \(kind.rawValue)", errno: ENOENT, detail: Self.advice(kind))
        }
        let folder = try LabFolder()
        let command = try Self.command(kind, program, options, folder)
        self.folder = folder
        port = Self.ports[kind] ?? 0
        // The programs write errors to either.
        process = try namespace.run { try LabProcess("/bin/sh", ["-c", "exec \"$@\" 2>&1", "sh"] + command) }
        try namespace.run { [port] in try Self.waitForListener(port, kind) }
        if options.certificate != nil {
            try namespace.run { try Self.waitForListener(Self.squidSecurePort, kind) }
        }
    }

    /// Returns whether the program is installed; tests use `.enabled(if: RealProxy.isInstalled(.squid), …)` with its
    /// advice.
    package static func isInstalled(_ kind: Kind) -> Bool { program(kind.rawValue) != nil }

    /// The advice for machines where it is not installed.
    package static func advice(_ kind: Kind) -> String {
        "\(kind.rawValue) is not installed: run scripts/setup --for-tests"
    }

    private static let ports: [Kind: UInt16] = [.tinyproxy: 8888, .squid: 3128, .microsocks: 1080]

    /// Debian installs servers in a directory that is not in a user's PATH.
    private static func program(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Connects repeatedly until the proxy listens, for up to 60 seconds.
    private static func waitForListener(_ port: UInt16, _ kind: Kind) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
            let code = withSocketAddress(ServerAddress.loopback.bytes(port: port)) {
                connect(descriptor.number, $0, $1)
            }
            if code == 0 { return }
            Polling.pause()
        }
        throw LabError("wait for \(kind.rawValue)", errno: ETIMEDOUT)
    }
}
