/// The next step of a negotiation with a proxy.
package enum ProxyStep: Sendable, Hashable {
    /// Wait for more bytes.
    case wait
    /// Send these bytes.
    case send([UInt8])
    /// The connection to the origin is open. The bytes are the first from the origin.
    case open(rest: [UInt8])
    /// The proxy refused the connection.
    case refused(ProxyRefusal)
}

/// The reason why a proxy refused a connection to an origin.
package enum ProxyRefusal: Error, Sendable, Hashable {
    /// An HTTP proxy responded with a status other than 2xx.
    case response(ProxyResponse)
    /// The reply code of a SOCKS proxy, which is not 0 (RFC 1928, 6).
    case reply(UInt8)
    /// A SOCKS proxy supports none of the offered authentication methods (RFC 1928, 3).
    case noAcceptableMethod
    /// A SOCKS proxy rejected the user name and the password (RFC 1929).
    case invalidCredential
    /// The proxy closed the connection.
    case closed
    /// The head of the response is larger than this limit in bytes.
    case headTooLarge(Int)
    /// The bytes are not of the proxy's protocol. The text describes them.
    case protocolViolation(String)
}

/// An HTTP proxy's response to CONNECT.
package struct ProxyResponse: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The reason phrase.
    package var reason: String
    /// The fields in order.
    package var fields: [Field] = []
    /// The beginning of the body.
    package var body: [UInt8] = []

    /// A field.
    package struct Field: Sendable, Hashable {
        /// The name as it was received or set.
        package var name: String
        /// The value without surrounding white space.
        package var value: String

        /// Creates a field.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a response.
    package init(status: Int, reason: String, fields: [Field] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.body = body
    }

    /// Returns the values of all fields with a name.
    package func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
