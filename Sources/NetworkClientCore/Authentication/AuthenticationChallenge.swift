/// A way in which a server or a proxy asks who is there (RFC 9110, 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `digest`, `bearer`.
    public let scheme: String
    /// What follows the scheme, where that is no list of parameters.
    public let token68: String?
    /// The parameters, their names in lower case, in their order.
    public let parameters: [Parameter]

    /// A parameter of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// Its name in lower case.
        public let name: String
        /// Its value, unquoted.
        public let value: String

        /// Makes one.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a challenge.
    public init(scheme: String, token68: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// The value of a parameter, by its name in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// What the server calls the part of it that is protected alike.
    public var realm: String? { self["realm"] }
}
