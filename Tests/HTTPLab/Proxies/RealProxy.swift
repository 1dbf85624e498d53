import Glibc
package import NetworkLab

/// A real proxy of Debian's, as a child of the test, on a port of its own of 127.0.0.1 in a namespace of the test's own.
///
/// It ends with its last owner.
package final class RealProxy: Sendable {
    /// Which one.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP; closes its connections, and leads to the ports that it is told of alone.
        case tinyproxy
        /// HTTP; keeps its connections, and may want Digest.
        case squid
        /// SOCKS 5.
        case microsocks
    }

    /// How it is set up.
    package struct Options: Sendable {
        /// Whom it knows; nil for everybody.
        package var user: String?
        /// The password to that.
        package var password = ""
        /// Whether squid wants Digest (RFC 7616) in place of Basic.
        package var isDigest = false
        /// The ports to which tinyproxy and squid make tunnels.
        package var ports: [UInt16] = []
        /// The certificate chain and its key, PEM files, with which squid speaks TLS on another port.
        package var certificate: (chain: String, key: String)?

        /// The defaults: open to everybody, tunnels to no port.
        package init() {}
    }

    /// Its port.
    package let port: UInt16
    /// The port on which squid speaks TLS, if it was given a certificate.
    package static let squidSecurePort: UInt16 = 3129
    private let folder: LabFolder
    private let process: LabProcess

    /// Starts one and waits until it listens.
    ///
    /// - Throws: What it said, if it does not.
    package init(_ kind: Kind, _ options: Options = Options(), in namespace: LabNamespace) throws {
        guard let program = Self.program(kind.rawValue) else {
            throw LabError("start \(kind.rawValue)", errno: ENOENT, detail: Self.advice(kind))
        }
        let folder = try LabFolder()
        let command = try Self.command(kind, program, options, folder)
        self.folder = folder
        port = Self.ports[kind] ?? 0
        // What they say, they say on either.
        process = try namespace.run { try LabProcess("/bin/sh", ["-c", "exec \"$@\" 2>&1", "sh"] + command) }
        try namespace.run { [port] in try Self.waitForListener(port, kind) }
        if options.certificate != nil {
            try namespace.run { try Self.waitForListener(Self.squidSecurePort, kind) }
        }
    }

    /// Whether there is one; a test that needs it is `.enabled(if: RealProxy.isInstalled(.squid), …)` with its advice.
    package static func isInstalled(_ kind: Kind) -> Bool { program(kind.rawValue) != nil }

    /// What to do where there is none.
    package static func advice(_ kind: Kind) -> String {
        "\(kind.rawValue) is not installed: run scripts/setup --for-tests"
    }

    private static let ports: [Kind: UInt16] = [.tinyproxy: 8888, .squid: 3128, .microsocks: 1080]

    /// Debian keeps servers in a directory that a user's PATH has not.
    private static func program(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Connects until somebody listens; a process that has ended never will.
    private static func waitForListener(_ port: UInt16, _ kind: Kind) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
            let code = withSocketAddress(ServerAddress.loopback.bytes(port: port)) {
                connect(descriptor.number, $0, $1)
            }
            if code == 0 { return }
            sched_yield()
        }
        throw LabError("wait for \(kind.rawValue)", errno: ETIMEDOUT)
    }
}
