import HTTPLab

/// The responses of a scripted server with one file.
struct PartServer: Sendable {
    var bytes: [UInt8]
    var tag: String? = #""v1""#
    /// Fields of every response.
    var fields: [String] = []
    /// The number of bytes of each body after which the connection is reset; nil for never.
    var cut: Int?

    init(_ bytes: [UInt8], tag: String? = #""v1""#, fields: [String] = [], cut: Int? = nil) {
        self.bytes = bytes
        self.tag = tag
        self.fields = fields
        self.cut = cut
    }

    /// The response of a server that follows RFC 9110.
    func steps(for request: ServerRecord.Request) -> [ServerStep] {
        guard let start = request.rangeStart, request.field("If-Range") == nil || request.field("If-Range") == tag
        else {
            return whole()
        }
        guard start < bytes.count else {
            return respond("416 Range Not Satisfiable", ["Content-Range: bytes */\(bytes.count)"], [])
        }
        return rest(from: start)
    }

    /// The whole file.
    func whole() -> [ServerStep] { respond("200 OK", [], bytes) }

    /// The file from a byte on.
    func rest(from start: Int) -> [ServerStep] {
        let range = "Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        return respond("206 Partial Content", [range], Array(bytes[start...]))
    }

    /// A response, truncated if so configured.
    func respond(_ status: String, _ lines: [String], _ body: [UInt8], tag other: String? = nil) -> [ServerStep] {
        var head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields + lines
        if let tag = other ?? tag { head.append("ETag: \(tag)") }
        let text = head.joined(separator: "\r\n") + "\r\n\r\n"
        guard let cut, body.count > cut else { return [.sendBytes(Array(text.utf8) + body)] }
        return [.sendBytes(Array(text.utf8) + body.prefix(cut)), .halfClose, .readToEnd]
    }

    /// A server that responds to all requests.
    func serve() throws -> ScriptedServer {
        try ScriptedServer(always: [.forever([.respond { [self] in steps(for: $0) }])])
    }
}

extension ServerRecord.Request {
    /// The start of the requested range; nil for the whole file.
    var rangeStart: Int? {
        guard let range = field("Range"), range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }
}

extension ScriptedServer {
    /// All requests, in the order of their connections.
    var requests: [ServerRecord.Request] { connections.flatMap(\.requests) }
}
