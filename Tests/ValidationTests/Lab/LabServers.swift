import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore

/// Programs that run in a namespace until they are released.
struct LabServers {
    private let folder: LabFolder
    private let process: LabProcess

    /// Starts a program, and waits for a text of its output.
    private init(
        _ lab: LabNamespace,
        _ folder: LabFolder,
        _ program: String,
        _ arguments: [String],
        sign: String
    ) throws {
        self.folder = folder
        process = try lab.run { try LabProcess("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments) }
        try process.waitForOutput { $0.contains(sign) }
    }

    /// Starts an nginx with servers, each a block of nginx.conf without its braces.
    static func nginx(_ servers: [String], in lab: LabNamespace) throws -> Self {
        let folder = try LabFolder()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/\($0);"
        }
        let text = """
            user root; daemon off; master_process off; pid \(folder.path)/pid; error_log stderr notice;
            events {}
            http {
                access_log off; default_type text/html; \(temporary.joined(separator: " "))
                \(servers.map { "server { \($0) }" }.joined(separator: "\n    "))
            }
            """
        let arguments = ["-p", folder.path, "-e", "stderr", "-c", try folder.write("nginx.conf", text)]
        return try .init(lab, folder, Nginx.program ?? "", arguments, sign: "using the \"epoll\" event method")
    }

    /// Starts the user's own servers: 204 over HTTP, and with a certificate over TLS.
    static func own(_ authority: CertificateAuthority, in network: ProbedNetwork) throws -> Self {
        let names = ["own.example", "other.example"]
        let identity = try authority.issue(names, addresses: ProbedNetwork.servers)
        let folder = try LabFolder()
        let (chain, key) = try identity.write(to: folder)
        let tls = "listen 443 ssl; ssl_certificate \(chain); ssl_certificate_key \(key); return 204;"
        // nginx has read the files when it has started.
        return try nginx(["listen 80; return 204;", tls], in: network.internet)
    }

    /// Starts dnsmasq on the router, as the name server of the machine.
    ///
    /// - Parameters:
    ///   - names: The addresses of names; `#` is any name.
    ///   - address: Where it listens.
    ///   - network: The network.
    /// - Returns: The running program.
    /// - Throws: Its output, if it does not start.
    static func dnsmasq(
        _ names: [(name: String, address: String)],
        at address: String = "192.0.2.1",
        in network: ProbedNetwork
    ) throws -> Self {
        let options = [
            "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file", "--user=root",
            "--bind-interfaces", "--listen-address=\(address)",
        ]
        let records = names.map { "--address=/\($0.name)/\($0.address)" }
        return try .init(network.router, LabFolder(), "/usr/sbin/dnsmasq", options + records, sign: "started")
    }

    /// Starts radvd on the router, with a name server and a search domain among its options.
    static func radvd(in network: ProbedNetwork) throws -> Self {
        let folder = try LabFolder()
        let file = try folder.write(
            "radvd.conf",
            """
            interface lan0 {
                AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; AdvDefaultLifetime 1800;
                prefix 2001:db8:1::/64 { AdvOnLink on; AdvAutonomous on; };
                RDNSS 2001:db8:1::1 { AdvRDNSSLifetime 1800; };
                DNSSL lab.example { AdvDNSSLLifetime 1800; };
            };

            """
        )
        // radvd refuses a file that others may write.
        chmod(file, 0o600)
        let arguments = ["-C", file, "-p", "\(folder.path)/pid", "-n", "-m", "stderr", "-d", "1"]
        return try .init(network.router, folder, "/usr/sbin/radvd", arguments, sign: "version")
    }

    /// Starts tayga on the router, as a translator for a prefix, and routes packets to and from it.
    static func tayga(_ prefix: String, in network: ProbedNetwork) throws -> Self {
        let folder = try LabFolder()
        let file = try folder.write(
            "tayga.conf",
            """
            tun-device nat64
            ipv4-addr 100.64.0.1
            ipv6-addr 2001:db8:ffff::1
            prefix \(prefix)
            dynamic-pool 100.64.0.0/24
            data-dir \(folder.path)

            """
        )
        try ProbedNetwork.run("/usr/sbin/tayga", ["-c", file, "--mktun"], in: network.router)
        let router = network.router.rtnl
        try router.setUp("nat64")
        try router.addRoute("100.64.0.0/24", on: "nat64")
        try router.addRoute(prefix, on: "nat64", family: .ipv6)
        // tayga keeps its output back where that is no terminal.
        let arguments = ["-oL", "/usr/sbin/tayga", "-c", file, "-d"]
        return try .init(network.router, folder, "/usr/bin/stdbuf", arguments, sign: "Dynamic pool")
    }
}
