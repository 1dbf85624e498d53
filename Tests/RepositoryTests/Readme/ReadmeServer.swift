import HTTPLab
import NetworkLab

/// The server of the README's examples, `https://api.example.com`, behind a Unix socket: no name leads to it here.
struct ReadmeServer {
    private let nginx: Nginx
    private let relay: ScriptedServer
    /// Its root's certificate and its own, PEM.
    let certificates: (root: String, own: String)

    /// Starts it.
    ///
    /// - Parameter path: The Unix socket's path.
    /// - Throws: An error if it cannot be started.
    init(at path: String) throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue(["api.example.com"])
        let folder = try LabFolder()
        var options = Nginx.Options()
        options.certificate = try identity.write(to: folder)
        options.directives = ["location = /v1/users { return 200 '[]'; }"]
        nginx = try Nginx(options)
        try nginx.files.write("firmware.bin", [UInt8](repeating: 0, count: 100_000))
        relay = try ScriptedServer(on: .unix(path), always: [.relay(toPort: nginx.securePort, cutAfter: nil)])
        certificates = (authority.rootPEM, identity.own.pem)
    }
}
