extension FormReader {
    /// Python's own parser of e-mail, which reads quoted pairs (RFC 9110, 5.6.4), behind Python's own server.
    static func python() throws -> Self { try .init("python3", ["-c", pythonProgram]) }

    static let hasPython = can("python3", ["-c", "import email.parser, http.server"])

    private static let pythonProgram = """
        import email.parser, email.policy, http.server, json

        class Reader(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                source = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\\r\\n\\r\\n" + self.body()
                form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(source)
                response = json.dumps([self.part(part) for part in form.iter_parts()]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(response)))
                self.end_headers()
                self.wfile.write(response)

            def body(self):
                if "Content-Length" in self.headers:
                    return self.rfile.read(int(self.headers["Content-Length"]))
                pieces = []
                while size := int(self.rfile.readline(), 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def part(self, part):
                parameters = part["Content-Disposition"].params
                return {
                    "name": parameters["name"].encode().hex(),
                    "fileName": parameters["filename"].encode().hex() if "filename" in parameters else None,
                    "type": part.get("Content-Type"),
                    "contents": part.get_payload(decode=True).hex(),
                }

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reader)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """
}
