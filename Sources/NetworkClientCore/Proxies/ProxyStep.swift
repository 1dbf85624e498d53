/// What follows on what a proxy has said.
public enum ProxyStep: Sendable, Hashable {
    /// More has to come.
    case wait
    /// Something is to be sent.
    case send([UInt8])
    /// The connection leads to the origin now; with what has come from there already.
    case open(rest: [UInt8])
    /// The proxy does not lead there.
    case refused(ProxyRefusal)
}

/// Why a proxy does not lead to an origin.
public enum ProxyRefusal: Error, Sendable, Hashable {
    /// An HTTP proxy answered otherwise than with 2xx.
    case answer(ProxyAnswer)
    /// A SOCKS proxy's reply, which is not 0 (RFC 1928, 6).
    case reply(UInt8)
    /// A SOCKS proxy takes none of the ways to log in that were offered (RFC 1928, 3).
    case noMethod
    /// A SOCKS proxy does not take the user name and the password (RFC 1929).
    case wrongCredential
    /// The proxy closed the connection.
    case closed
    /// The head of its answer is larger than so many bytes.
    case headTooLarge(Int)
    /// What it said is not of its protocol; with what it is instead.
    case nonsense(String)
}

/// An HTTP proxy's answer to CONNECT.
public struct ProxyAnswer: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The words behind it.
    public var reason: String
    /// The fields, in their order.
    public var fields: [Field] = []
    /// The beginning of the body.
    public var body: [UInt8] = []

    /// A field.
    public struct Field: Sendable, Hashable {
        /// Its name, as it was written.
        public var name: String
        /// Its value, without white space around it.
        public var value: String

        /// Sets both.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Sets all.
    public init(status: Int, reason: String, fields: [Field] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.body = body
    }

    /// The values of a field.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
