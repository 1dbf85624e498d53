import Glibc
import NetworkLab

extension RealProxy {
    /// Returns the program and its arguments; its files are written into the folder.
    static func command(_ kind: Kind, _ program: String, _ options: Options, _ folder: LabFolder) throws -> [String] {
        switch kind {
        case .tinyproxy:
            return [program, "-d", "-c", try folder.write("tinyproxy.conf", tinyproxy(options))]
        case .squid:
            let file = try folder.write("squid.conf", try squid(options, folder))
            // Squid refuses to run as root, which every process in the tests' namespace is.
            let user = ["/usr/bin/unshare", "--user", "--map-user=13", "--map-group=13"]
            return (geteuid() == 0 ? user : []) + [program, "-N", "-d", "1", "-f", file]
        case .microsocks:
            let login = options.user.map { ["-u", $0, "-P", options.password] } ?? []
            return [program, "-i", "127.0.0.1", "-p", "1080"] + login
        }
    }

    private static func tinyproxy(_ options: Options) -> String {
        var lines = ["Port 8888", "Listen 127.0.0.1", "Timeout 600", "MaxClients 100"]
        if let user = options.user { lines.append("BasicAuth \(user) \(options.password)") }
        // Without a ConnectPort line, it permits every port.
        lines += (options.ports + [9]).map { "ConnectPort \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func squid(_ options: Options, _ folder: LabFolder) throws -> String {
        var lines = [
            "http_port 127.0.0.1:3128", "pid_filename none", "cache_log /dev/stderr", "access_log none",
            "cache_store_log none", "cache deny all", "cache_mem 0", "shutdown_lifetime 0", "pinger_enable off",
            "netdb_filename none", "coredump_dir \(folder.path)", "logfile_rotate 0",
            "acl CONNECT method CONNECT",
        ]
        if let certificate = options.certificate {
            let files = "tls-cert=\(certificate.chain) tls-key=\(certificate.key)"
            lines.append("https_port 127.0.0.1:\(squidSecurePort) \(files)")
        }
        for port in options.ports + [9] { lines.append("acl tunnels port \(port)") }
        lines.append("http_access deny CONNECT !tunnels")
        if let keytab = options.keytab { lines += kerberos(keytab) }
        if let user = options.user { lines += try authentication(options, user, folder) }
        return (lines + ["http_access allow all"]).joined(separator: "\n") + "\n"
    }

    private static func kerberos(_ keytab: String) -> [String] {
        [
            "auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -k \(keytab) -s GSS_C_NO_NAME",
            "auth_param negotiate children 1 startup=1 idle=1", "auth_param negotiate keep_alive on",
            "acl known proxy_auth REQUIRED", "http_access deny !known",
        ]
    }

    private static func authentication(_ options: Options, _ user: String, _ folder: LabFolder) throws -> [String] {
        let scheme = options.isDigest ? "digest" : "basic"
        let program: String
        if options.isDigest {
            program = "/usr/lib/squid/digest_file_auth \(try folder.write("users", "\(user):\(options.password)\n"))"
        } else {
            // The helper reads and writes one line per lookup; the user names here contain no blank.
            let script =
                "while read name word rest; do [ \"$name $word\" = \"\(user) \(options.password)\" ] && echo OK || echo ERR; done"
            program = "/bin/sh \(try folder.write("helper.sh", script + "\n"))"
        }
        return [
            "auth_param \(scheme) program \(program)", "auth_param \(scheme) children 1 startup=1 idle=1",
            "auth_param \(scheme) realm lab", "acl known proxy_auth REQUIRED", "http_access deny !known",
        ]
    }
}
