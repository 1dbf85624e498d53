import NIOHTTP1

/// As whom one request appears; nil where nobody is to.
final class RequestLogin: Sendable {
    /// Its own credential, and the origin for which it is meant.
    let own: (credential: Credential, origin: HTTPOrigin)?

    private init(own: (credential: Credential, origin: HTTPOrigin)?) { self.own = own }

    /// As its session does.
    static let shared = RequestLogin(own: nil)

    /// By its own credential, else as its session does.
    convenience init(_ credential: Credential, for origin: HTTPOrigin) {
        self.init(own: (credential, origin))
    }

    /// The request's own credential, where it is at the origin for which it is meant.
    func credential(at origin: HTTPOrigin) -> Credential? {
        own.flatMap { $0.origin == origin ? $0.credential : nil }
    }
}

extension HTTPSession {
    /// As whom a request appears: by its options, the URL's user information, the session's policy.
    ///
    /// Who sets `Authorization` has it so; nothing is added then, and nothing answered.
    func login(for url: HTTPURL, _ options: RequestOptions, _ headers: HTTPHeaders) -> RequestLogin? {
        let mayAppear = options.credential != nil || url.hasCredentials || !configuration.authentication.isEmpty
        guard mayAppear, options.authenticates, !headers.contains(name: "Authorization") else { return nil }
        if let credential = options.credential { return .init(credential, for: url.origin) }
        if let user = url.user { return .init(.init(user: user, password: url.password ?? ""), for: url.origin) }
        // What gets a token must not wait for it.
        if !configuration.authentication.tokens.isEmpty, BearerTokens.isRefreshing { return nil }
        return .shared
    }
}
