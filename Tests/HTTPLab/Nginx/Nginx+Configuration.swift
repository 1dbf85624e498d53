extension Nginx {
    /// The configuration file: one process, no files outside its folder, no log except errors.
    ///
    /// `user` prevents a change of the owner where root is the only user, as in the tests' namespace; otherwise it is
    /// ignored.
    static func configuration(_ options: Options, _ ports: [UInt16], files: String, root: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(root)/\($0);" }
        var servers = [server("listen 127.0.0.1:\(ports[0]) reuseport;", options)]
        if let certificate = options.certificate {
            var lines = [
                "listen 127.0.0.1:\(ports[1]) ssl reuseport;",
                "ssl_certificate \(certificate.chain);",
                "ssl_certificate_key \(certificate.key);",
                "ssl_protocols \(options.protocols);",
            ]
            if let authority = options.clientAuthority {
                lines += ["ssl_client_certificate \(authority);", "ssl_verify_client on;"]
            }
            servers.append(server(lines.joined(separator: " "), options))
        }
        return """
            user root; daemon off; master_process off; pid \(root)/pid; error_log stderr notice;
            events { worker_connections 1024; }
            http {
                access_log off; root \(files); tcp_nodelay on;
                types { text/html html; text/plain txt; application/json json; image/png png; }
                default_type application/octet-stream;
                gzip on; gzip_min_length 64; gzip_types text/plain application/json;
                keepalive_timeout \(options.keepAlive); keepalive_requests \(options.requestsPerConnection);
                client_max_body_size 0;
                \(temporary.joined(separator: " "))
                \(servers.joined(separator: "\n    "))
            }
            """
    }

    private static func server(_ lines: String, _ options: Options) -> String {
        let status = "location = /status { stub_status; }"
        let accept = "location = /accept { return 200 'ok'; }"
        return "server { \(lines) \(options.directives.joined(separator: " ")) \(status) \(accept) }"
    }
}
