package import ReachabilityCore

/// The client's side of a SOCKS 5 request (RFC 1928), with a user name and a password if needed (RFC 1929).
package struct SOCKS5Dialogue: Sendable, Hashable {
    /// The destination of the connection.
    package enum Destination: Sendable, Hashable {
        /// A host name of at most 255 bytes, which the proxy resolves.
        case name(String)
        /// An address.
        case address(IPAddress)
    }

    /// A user name and a password, of at most 255 bytes each.
    package struct Login: Sendable, Hashable {
        /// The user name.
        package var user: String
        /// The password.
        package var password: String

        /// Creates a login.
        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Whether both can be sent (RFC 1929, 2).
        ///
        /// An empty password is allowed.
        package var fits: Bool { 1...255 ~= user.utf8.count && password.utf8.count <= 255 }
    }

    private enum Phase { case method, login, reply, over }

    private let destination: Destination
    private let port: UInt16
    private let login: Login?
    private var phase = Phase.method
    private var pending: [UInt8] = []

    /// Creates a request for a connection.
    package init(to destination: Destination, port: UInt16, login: Login?) {
        self.destination = destination
        self.port = port
        self.login = login
    }

    private static let version: UInt8 = 5
    private static let noLogin: UInt8 = 0
    private static let userAndPassword: UInt8 = 2
    private static let noneFits: UInt8 = 0xFF

    /// The bytes to send first: the offered authentication methods.
    package var greeting: [UInt8] {
        let methods = login == nil ? [Self.noLogin] : [Self.noLogin, Self.userAndPassword]
        return [Self.version, UInt8(methods.count)] + methods
    }

    /// Processes received bytes, however they are split.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> ProxyStep {
        pending += bytes
        let step =
            switch phase {
            case .method: receiveMethod()
            case .login: receiveLogin()
            case .reply: receiveReply()
            case .over: ProxyStep.wait
            }
        if case .refused = step { phase = .over }
        return step
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard pending.count >= count else { return nil }
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }

    /// Whether the server sent more than its reply, although it may only reply to requests.
    private var hasExcess: Bool { !pending.isEmpty }

    private mutating func receiveMethod() -> ProxyStep {
        if let first = pending.first, first != Self.version { return .refused(.protocolViolation(Self.words(first))) }
        guard let response = take(2) else { return .wait }
        guard !hasExcess else { return .refused(.protocolViolation("it sent more than a reply")) }
        switch response[1] {
        case Self.noLogin: return ask()
        case Self.userAndPassword: return logIn(login)
        case Self.noneFits: return .refused(.noAcceptableMethod)
        default: return .refused(.protocolViolation("it chose an authentication method that was not offered"))
        }
    }

    private mutating func logIn(_ login: Login?) -> ProxyStep {
        guard let login else {
            return .refused(.protocolViolation("it chose an authentication method that was not offered"))
        }
        phase = .login
        let (user, password) = (Array(login.user.utf8.prefix(255)), Array(login.password.utf8.prefix(255)))
        return .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
    }

    private mutating func receiveLogin() -> ProxyStep {
        // The version is 1, that of the subnegotiation; some servers write 5.
        guard let response = take(2) else { return .wait }
        guard response[1] == 0 else { return .refused(.invalidCredential) }
        guard !hasExcess else { return .refused(.protocolViolation("it sent more than a reply")) }
        return ask()
    }

    private mutating func ask() -> ProxyStep {
        phase = .reply
        let ports = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        return .send([Self.version, 1, 0] + Self.bytes(of: destination) + ports)
    }

    /// Returns the type of an address and its bytes.
    private static func bytes(of destination: Destination) -> [UInt8] {
        switch destination {
        case .name(let name):
            let bytes = Array(name.utf8.prefix(255))
            return [3, UInt8(bytes.count)] + bytes
        case .address(let address):
            let count = address.family == .ipv4 ? 4 : 16
            return [address.family == .ipv4 ? 1 : 4]
                + (0..<count).map { UInt8(truncatingIfNeeded: address.bits >> (120 - 8 * UInt128($0))) }
        }
    }

    private mutating func receiveReply() -> ProxyStep {
        if let first = pending.first, first != Self.version { return .refused(.protocolViolation(Self.words(first))) }
        // The address in a refusal has no meaning, and some servers omit it.
        if pending.count > 1, pending[1] != 0 { return .refused(.reply(pending[1])) }
        guard pending.count > 4 else { return .wait }
        let length: Int
        switch pending[3] {
        case 1: length = 4
        case 3: length = 1 + Int(pending[4])
        case 4: length = 16
        default: return .refused(.protocolViolation("its reply has an address of an unknown kind"))
        }
        guard take(4 + length + 2) != nil else { return .wait }
        phase = .over
        defer { pending = [] }
        return .open(rest: pending)
    }

    private static func words(_ version: UInt8) -> String {
        version == UInt8(ascii: "H") ? "it speaks HTTP" : "it does not speak SOCKS 5"
    }
}

extension SOCKS5Dialogue.Login: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text that reveals neither value.
    package var description: String { "Login(hidden)" }
    /// The same as ``description``.
    package var debugDescription: String { description }
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
