import NIOHTTP1

/// A session's fields, ready for the wire.
struct PreparedHeaders: Sendable {
    let authority: String
    let headers: HTTPHeaders

    init(_ fields: HTTPFields, authority: String) {
        self.authority = authority
        headers = HTTPHeaders(fields, host: authority)
    }
}

extension HTTPHeaders {
    /// Fields in their order, after `Host`, which comes first (RFC 9110, 7.2), unless the fields have their own.
    init(_ fields: HTTPFields, host: String) {
        self.init()
        reserveCapacity(fields.count + 3)
        if fields[.host] == nil { add(name: "Host", value: host) }
        for field in fields { add(name: field.name.rawName, value: field.value) }
    }
}

extension HTTPField.Name {
    /// Which host is asked (RFC 9110, 7.2).
    static let host = Self("Host") ?? .userAgent
}
