import Glibc
import NetworkLab

/// A web server that requires Negotiate and checks the tokens with Python's `gssapi`.
///
/// Its responses are JSON: the user, whether the user's ticket was delegated, the size of the body, and the client's port.
/// Some paths behave differently:
///
/// - `/open` requires nothing.
/// - `/silent` sends no token of the server, `/wrong` an invalid one.
/// - `/refuse` accepts no token.
/// - `/redirect` leads to `/` once the user is authenticated.
/// - `/basic` also offers Basic, for the user `mufasa` with the password `circle`.
package final class KerberosServer: Sendable {
    private let daemon: ServerDaemon

    /// The port.
    package var port: UInt16 { daemon.port }

    /// The origin, without a trailing slash.
    package var url: String { "http://localhost:\(port)" }

    /// Starts the server.
    ///
    /// - Throws: The server's output, if it does not start.
    package init(_ lab: KerberosLab) throws {
        let arguments = ["KRB5_KTNAME=\(lab.keytab)", "/usr/bin/python3", "-u", ServerDaemon.file]
        daemon = try ServerDaemon("/usr/bin/env", arguments: arguments, sign: "listening") { _, port in
            Self.program(port)
        }
    }

    /// Whether Python's gssapi is installed.
    static let isInstalled = access("/usr/lib/python3/dist-packages/gssapi/__init__.py", R_OK) == 0

    private static func program(_ port: UInt16) -> String {
        """
        import base64, gssapi, json
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def reply(self, status, challenges, body=b"", location=None):
                self.send_response(status)
                for challenge in challenges:
                    self.send_header("WWW-Authenticate", challenge)
                if location:
                    self.send_header("Location", location)
                if body.startswith(b"{"):
                    self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self):
                size = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                path = "/" + self.path.split("/", 3)[3] if self.path.startswith("http:") else self.path
                field = self.headers.get("Authorization", "")
                port = self.client_address[1]
                if path == "/open":
                    return self.reply(200, [], field.encode())
                if path == "/basic":
                    expected = "Basic " + base64.b64encode(b"mufasa:circle").decode()
                    if field == expected:
                        return self.reply(200, [], b"basic")
                    if not field.startswith("Negotiate "):
                        return self.reply(401, ["Negotiate", 'Basic realm="lions"'])
                if path == "/refuse" or not field.startswith("Negotiate "):
                    return self.reply(401, ["Negotiate"])
                context = gssapi.SecurityContext(usage="accept")
                try:
                    token = context.step(base64.b64decode(field[10:]))
                except gssapi.exceptions.GSSError as error:
                    return self.reply(401, ["Negotiate"], str(error).encode())
                delegated = context.delegated_creds is not None
                body = json.dumps({"user": str(context.initiator_name), "delegated": delegated,
                    "size": size, "port": port}).encode()
                if path == "/wrong":
                    token = b"not a token"
                proof = [] if path == "/silent" else ["Negotiate " + base64.b64encode(token).decode()]
                if path == "/redirect":
                    return self.reply(302, proof, location="/")
                self.reply(200, proof, body)
            do_POST = do_PUT = do_GET
            def log_message(self, *arguments):
                pass
        server = ThreadingHTTPServer(("127.0.0.1", \(port)), Handler)
        print("listening", flush=True)
        server.serve_forever()

        """
    }
}
