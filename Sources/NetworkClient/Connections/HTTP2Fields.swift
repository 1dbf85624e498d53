import NIOHPACK
import NIOHTTP1
import NetworkClientCore

extension HPACKHeaders {
    /// Creates the field section of a request: pseudo-header fields first, names in lower case, without the fields that
    /// concern an HTTP/1.1 connection (RFC 9113, 8.2.2 and 8.3.1).
    ///
    /// CONNECT with an `Upgrade` field is an extended CONNECT for that protocol (RFC 8441, 4).
    init(_ head: HTTPRequestHead, isSecure: Bool) {
        self.init()
        reserveCapacity(head.headers.count + 5)
        add(name: ":method", value: head.method.rawValue)
        if let name = head.tunnelProtocol { add(name: ":protocol", value: name) }
        add(name: ":scheme", value: isSecure ? "https" : "http")
        if let host = head.headers.first(name: "Host") { add(name: ":authority", value: host) }
        add(name: ":path", value: head.uri)
        let listed = head.headers.contains(name: "Connection") ? head.headers[canonicalForm: "Connection"] : []
        for (name, value) in head.headers {
            let name = name.lowercased()
            guard !Self.concernsConnection(name, value), !listed.contains(where: { $0.lowercased() == name }) else {
                continue
            }
            add(name: name, value: value, indexing: Self.secret.contains(name) ? .neverIndexed : .indexable)
        }
    }

    /// The fields that proxies must not store in their tables either (RFC 7541, 7.1.3).
    private static let secret: Set<String> = ["authorization", "proxy-authorization"]

    private static func concernsConnection(_ name: String, _ value: String) -> Bool {
        switch name {
        case "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings":
            true
        case "te": value.lowercased() != "trailers"
        default: false
        }
    }

    /// The size of the section as RFC 9113, 6.5.2, counts it: 32 bytes more than its text for each field.
    var size: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 } }

    /// The status of a response, from 100 to 999; nil if it is missing or malformed.
    var status: Int? {
        guard let text = first(name: ":status"), text.utf8.count == 3, text.utf8.allSatisfy(\.isASCIIDigit),
            let status = Int(text), status >= 100
        else { return nil }
        return status
    }

    /// The fields except pseudo-header fields.
    var fields: HTTPHeaders {
        var fields: [(String, String)] = []
        fields.reserveCapacity(count)
        for (name, value, _) in self where name.utf8.first != UInt8(ascii: ":") { fields.append((name, value)) }
        return .init(fields)
    }
}

extension HTTPRequestHead {
    /// The protocol that an extended CONNECT asks for; nil for any other request.
    var tunnelProtocol: String? { method == .CONNECT ? headers.first(name: "Upgrade") : nil }

    /// The extended CONNECT that opens a WebSocket, instead of the GET over HTTP/1.1 (RFC 8441, 5).
    var extendedConnect: Self {
        var head = self
        head.method = .CONNECT
        head.headers.remove(name: "Sec-WebSocket-Key")
        return head
    }
}

extension HTTPVersion {
    /// HTTP/2, which has no minor version.
    static let http2Final = HTTPVersion(major: 2, minor: 0)

    /// The protocol and version, such as `HTTP/1.1` or `HTTP/2`.
    var text: String { self == .http2Final ? "HTTP/2" : "\(self)" }
}
