public import ReachabilityCore

/// How a client asks a SOCKS proxy of version 5 for a connection (RFC 1928), with a user name and a password if it has them
/// (RFC 1929).
public struct SOCKS5Dialogue: Sendable, Hashable {
    /// Where to.
    public enum Destination: Sendable, Hashable {
        /// A name, which the proxy looks up: at most 255 bytes.
        case name(String)
        /// An address.
        case address(IPAddress)
    }

    /// A user name and a password, of at most 255 bytes each.
    public struct Login: Sendable, Hashable {
        /// The name.
        public var user: String
        /// The password.
        public var password: String

        /// Sets both.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Whether both fit into a message (RFC 1929, 2); an empty password is sent as such.
        public var fits: Bool { 1...255 ~= user.utf8.count && password.utf8.count <= 255 }
    }

    private enum Phase { case method, login, reply, over }

    private let destination: Destination
    private let port: UInt16
    private let login: Login?
    private var phase = Phase.method
    private var pending: [UInt8] = []

    /// Asks for a connection to a destination.
    public init(to destination: Destination, port: UInt16, login: Login?) {
        self.destination = destination
        self.port = port
        self.login = login
    }

    private static let version: UInt8 = 5
    private static let noLogin: UInt8 = 0
    private static let userAndPassword: UInt8 = 2
    private static let noneFits: UInt8 = 0xFF

    /// What is sent first: the ways to log in.
    public var greeting: [UInt8] {
        let methods = login == nil ? [Self.noLogin] : [Self.noLogin, Self.userAndPassword]
        return [Self.version, UInt8(methods.count)] + methods
    }

    /// Takes in what came, however it was split.
    public mutating func receive(_ bytes: some Sequence<UInt8>) -> ProxyStep {
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

    /// A server speaks only when it was asked.
    private var hasExcess: Bool { !pending.isEmpty }

    private mutating func receiveMethod() -> ProxyStep {
        if let first = pending.first, first != Self.version { return .refused(.nonsense(Self.words(first))) }
        guard let answer = take(2) else { return .wait }
        guard !hasExcess else { return .refused(.nonsense("it says more than it was asked")) }
        switch answer[1] {
        case Self.noLogin: return ask()
        case Self.userAndPassword: return logIn(login)
        case Self.noneFits: return .refused(.noMethod)
        default: return .refused(.nonsense("it chose a way to log in that was not offered"))
        }
    }

    private mutating func logIn(_ login: Login?) -> ProxyStep {
        guard let login else { return .refused(.nonsense("it chose a way to log in that was not offered")) }
        phase = .login
        let (user, password) = (Array(login.user.utf8.prefix(255)), Array(login.password.utf8.prefix(255)))
        return .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
    }

    private mutating func receiveLogin() -> ProxyStep {
        // The version is that of the login, 1; some servers write 5.
        guard let answer = take(2) else { return .wait }
        guard answer[1] == 0 else { return .refused(.wrongCredential) }
        guard !hasExcess else { return .refused(.nonsense("it says more than it was asked")) }
        return ask()
    }

    private mutating func ask() -> ProxyStep {
        phase = .reply
        let ports = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        return .send([Self.version, 1, 0] + Self.bytes(of: destination) + ports)
    }

    /// The kind of the address and the address.
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
        if let first = pending.first, first != Self.version { return .refused(.nonsense(Self.words(first))) }
        // A refusal's address means nothing, and some servers leave it out.
        if pending.count > 1, pending[1] != 0 { return .refused(.reply(pending[1])) }
        guard pending.count > 4 else { return .wait }
        let length: Int
        switch pending[3] {
        case 1: length = 4
        case 3: length = 1 + Int(pending[4])
        case 4: length = 16
        default: return .refused(.nonsense("its reply has an address of an unknown kind"))
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
    /// Says that it is one, and nothing of what is in it.
    public var description: String { "Login(hidden)" }
    /// As ``description``.
    public var debugDescription: String { description }
    /// Has no children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
