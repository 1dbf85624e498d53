/// The cookies of a session.
///
/// ```swift
/// let store = try CookieStore(file: "/var/lib/agent/cookies.txt")
/// let session = try HTTPSession(configuration: .init(cookies: .store(store)))
/// ```
public enum CookiePolicy: Sendable {
    /// Cookies are stored in memory, in a store of the session's own.
    case memory
    /// Cookies are stored in a given store, which several sessions may share.
    case store(CookieStore)
    /// Cookies are neither stored nor sent.
    case never

    /// The store of a new session; nil for none.
    func makeStore() -> CookieStore? {
        switch self {
        case .memory: CookieStore()
        case .store(let store): store
        case .never: nil
        }
    }
}

/// The servers whose cookies a store accepts.
public enum CookieAcceptPolicy: Sendable, Hashable {
    /// All servers.
    case always
    /// Servers of the site that the program has requested, but no other site that a redirect leads to.
    case onlyFromRequestedSite
    /// No servers: only the cookies that the program inserts are sent.
    case never
}
