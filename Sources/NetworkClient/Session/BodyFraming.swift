import NIOHTTP1

extension HTTPHeaders {
    /// The fields that determine how a request's body is framed (RFC 9112, 6), and whether it waits for the server's consent
    /// (RFC 9110, 10.1.1).
    private static let framing = ["Content-Length", "Transfer-Encoding", "Expect"]

    /// Takes the framing of the body from other fields.
    ///
    /// A head that the program has changed must not say where the body ends: the server would interpret the rest as another
    /// request.
    mutating func keepFraming(of other: HTTPHeaders) {
        for name in Self.framing where self[name] != other[name] {
            remove(name: name)
            for value in other[name] { add(name: name, value: value) }
        }
    }

    /// States that a request has no body, if its method usually has one (RFC 9110, 8.6).
    mutating func stateAbsenceOfBody(_ method: HTTPMethod) {
        guard [.POST, .PUT, .PATCH].contains(method), !contains(name: "Content-Length") else { return }
        add(name: "Content-Length", value: "0")
    }
}
