import NetworkClient

/// The description of a request for adapters, without secrets.
struct RequestDescription {
    /// The method.
    let method: String
    /// The URL without user information and query.
    let url: String
    /// The host, in brackets if it is an IPv6 address.
    let host: String
    /// The port; nil if the URL has none.
    let port: Int?

    init(_ request: RequestHandle) { self.init(request.head) }

    init(_ head: HTTPRequest) {
        let authority = head.authority ?? ""
        let colon = authority.lastIndex(of: ":").flatMap {
            Int(authority[authority.index(after: $0)...]) != nil ? $0 : nil
        }
        method = head.method.rawValue
        host = String(authority[..<(colon ?? authority.endIndex)])
        port = colon.flatMap { Int(authority[authority.index(after: $0)...]) }
        url = "\(head.scheme ?? "http")://\(authority)\((head.path ?? "/").prefix { $0 != "?" })"
    }
}
