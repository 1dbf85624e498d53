/// Why a request is not served, as an HTTP response.
package struct RequestRefusal: Error, Hashable, Sendable {
    /// The status code (RFC 9110, 15).
    package let status: Int
    /// The problem, and what to do about it.
    package let message: String

    /// Creates a refusal.
    package init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The text that follows the status code.
    package static func phrase(of status: Int) -> String {
        switch status {
        case 200: "OK"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 421: "Misdirected Request"
        case 431: "Request Header Fields Too Large"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Error"
        }
    }
}

/// The head of an HTTP/1.1 request (RFC 9112, 3 and 5), read strictly: what a second reader could understand
/// differently is refused.
package struct RequestHead: Hashable, Sendable {
    /// The longest head that is taken, in bytes.
    package static let maximumLength = 16_384

    /// The method, such as `GET`.
    package let method: String
    /// The target: a path, and a query if there is one.
    package let target: String
    private let isPersistent: Bool
    private let fields: [Field]

    private struct Field: Hashable {
        /// In lower case.
        let name: String
        let value: String
    }

    /// Returns the values of a field, whose name is given in lower case, in their order.
    package func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Returns the elements of a field whose value is a list separated by commas, without spaces around them.
    package func list(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",") }.map { trimmed(Array($0.utf8)[...]) }
    }

    /// Reads a head.
    ///
    /// - Parameter bytes: The head, up to and with the empty line.
    /// - Throws: ``RequestRefusal`` with 400.
    package init(parsing bytes: [UInt8]) throws(RequestRefusal) {
        var lines = try Self.lines(of: bytes)[...]
        let words = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(isTokenByte) else {
            throw .init(400, "the first line is not 'METHOD TARGET HTTP/1.1'")
        }
        guard words[1].first == UInt8(ascii: "/"), words[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .init(400, "the target is no path in ASCII; write GET /v1/state HTTP/1.1")
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw .init(400, "the version is not HTTP/1.1, which this service speaks")
        }
        method = String(decoding: words[0], as: UTF8.self)
        target = String(decoding: words[1], as: UTF8.self)
        fields = try lines.map { (line) throws(RequestRefusal) in try Self.field(line) }
        isPersistent = version == "HTTP/1.1"
        try checkBody()
    }

    /// Whether the connection persists after the response (RFC 9112, 9.3).
    package var keepsAlive: Bool { isPersistent && !list("connection").contains { $0.lowercased() == "close" } }

    private func checkBody() throws(RequestRefusal) {
        let isEmpty = values("content-length").allSatisfy { $0 == "0" }
        guard isEmpty, values("transfer-encoding").isEmpty else {
            throw .init(400, "the request has a body, which no route takes; leave it out")
        }
    }

    private static func lines(of bytes: [UInt8]) throws(RequestRefusal) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            guard line.last == UInt8(ascii: "\r"), !line.dropLast().contains(UInt8(ascii: "\r")) else {
                throw .init(400, "a line does not end with CR LF")
            }
            lines.append(line.dropLast())
            rest = rest[(end + 1)...]
        }
        guard rest.isEmpty, lines.count >= 2, lines.removeLast().isEmpty else {
            throw .init(400, "the head does not end with an empty line")
        }
        return lines
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(RequestRefusal) -> Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .init(400, "a line of the head has no ':'")
        }
        let (name, value) = (line[..<colon], line[(colon + 1)...])
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else {
            throw .init(400, "the name of a field has a character that no name may have, such as a space before ':'")
        }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .init(400, "the value of a field has a control character")
        }
        return .init(name: String(decoding: name, as: UTF8.self).lowercased(), value: trimmed(value))
    }
}

/// Whether a byte may be in a token (RFC 9110, 5.6.2).
private func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// A value without the spaces and tabs around it.
private func trimmed(_ value: ArraySlice<UInt8>) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let end = value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? value.startIndex
    return String(decoding: value[..<end].drop(while: isSpace), as: UTF8.self)
}
