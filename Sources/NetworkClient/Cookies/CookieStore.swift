import Dispatch
import Glibc
import Locking
public import NetworkClientCore
import Synchronization

/// Cookies that servers have set, by the rules of RFC 6265bis.
///
/// A store belongs to a session in memory, or to several sessions or a file by ``CookiePolicy/store(_:)``. A domain has at most
/// 50 cookies, and a store 3,000; then the cookies unused for longest are removed. All members can be used from any thread. No
/// description contains a cookie.
public final class CookieStore: Sendable {
    /// The path of the file; nil for a store in memory.
    public let file: String?
    /// Whether cookies without an expiry are written to the file and read from it; they end with the process otherwise.
    public let keepsSessionCookies: Bool
    /// The servers whose cookies are accepted.
    public let accepts: CookieAcceptPolicy

    private let state: Lock<State>
    private let storedCount: Atomic<Int>
    /// The current time in seconds since 1970.
    private let now: @Sendable () -> Int64
    private let writer: DispatchQueue?

    private struct State {
        var table: CookieTable
        /// Whether the file lacks changes.
        var isChanged = false
        /// Whether a write is scheduled.
        var isScheduled = false
    }

    private init(
        _ table: CookieTable,
        file: String?,
        keepsSessionCookies: Bool,
        accepts: CookieAcceptPolicy,
        now: @escaping @Sendable () -> Int64
    ) {
        self.file = file
        self.keepsSessionCookies = keepsSessionCookies
        self.accepts = accepts
        self.now = now
        storedCount = .init(table.count)
        writer = file == nil ? nil : DispatchQueue(label: "cookies")
        state = .init(State(table: table))
    }

    /// Creates an empty store in memory.
    ///
    /// - Parameter accepts: The servers whose cookies are accepted.
    public convenience init(accepts: CookieAcceptPolicy = .always) {
        self.init(accepts: accepts) { Int64(time(nil)) }
    }

    /// Creates an empty store with a clock.
    convenience init(accepts: CookieAcceptPolicy, now: @escaping @Sendable () -> Int64) {
        self.init(.init(), file: nil, keepsSessionCookies: false, accepts: accepts, now: now)
    }

    /// Creates a store with the cookies of a file, and writes changes to it.
    ///
    /// The file has the format of Netscape, so that curl reads and writes the same one (`--cookie`, `--cookie-jar`). It is written
    /// as a whole a second after a change, with permissions for its owner only (0600), and replaced in one step, so that a
    /// crash leaves the previous one. ``save()`` writes it immediately: call it before the process exits. Programs that run at
    /// the same time replace each other's cookies.
    ///
    /// - Parameters:
    ///   - file: The path; a file that does not exist is created by the first cookie.
    ///   - keepsSessionCookies: Whether cookies without an expiry are read and written, as curl does.
    ///   - accepts: The servers whose cookies are accepted.
    /// - Throws: `invalidConfiguration` if the file can't be read, or has a line that is not a cookie: it would be lost when the
    ///   file is written.
    public convenience init(
        file: String,
        keepsSessionCookies: Bool = false,
        accepts: CookieAcceptPolicy = .always
    ) throws(HTTPError) {
        let clock: @Sendable () -> Int64 = { Int64(time(nil)) }
        var table = CookieTable()
        for cookie in try Self.cookies(inFile: file) where keepsSessionCookies || cookie.expires != nil {
            guard cookie.hasValidDomain else { continue }
            table.store(cookie, clock())
        }
        self.init(table, file: file, keepsSessionCookies: keepsSessionCookies, accepts: accepts, now: clock)
    }

    /// Whether there are no cookies; does not wait for a lock.
    var isEmpty: Bool { storedCount.load(ordering: .relaxed) == 0 }

    /// Changes the table, and schedules that the file is written.
    private func change<Value: Sendable>(_ body: (inout CookieTable) -> Value) -> Value {
        let (value, schedules) = state.withLock { state in
            let value = body(&state.table)
            storedCount.store(state.table.count, ordering: .relaxed)
            state.isChanged = true
            defer { state.isScheduled = writer != nil }
            return (value, !state.isScheduled)
        }
        if schedules { writer?.asyncAfter(deadline: .now() + .seconds(1)) { try? self.write() } }
        return value
    }
}

// MARK: The program's access

extension CookieStore {
    /// The cookies, in the order of their creation.
    public var cookies: [Cookie] { state.withLock { $0.table.cookies(now: now()) } }

    /// Returns the cookies that a request is sent with, in their order.
    ///
    /// - Parameter url: The absolute URL, with http, https, ws or wss.
    /// - Returns: The cookies.
    /// - Throws: `invalidURL`.
    public func cookies(for url: String) throws(HTTPError) -> [Cookie] {
        let origin = try CookieOrigin(HTTPURL(url))
        return state.withLock { $0.table.cookies(for: origin, now: now()) }
    }

    /// Stores a cookie, and replaces the one with the same name, domain and path.
    ///
    /// - Throws: `invalidConfiguration` for a cookie that no server could set.
    public func insert(_ cookie: Cookie) throws(HTTPError) {
        let flaw =
            cookie.flaw ?? (cookie.hasValidDomain ? nil : "its domain is a public suffix: name a domain below it")
        if let flaw {
            let reason = "the cookie '\(cookie.name)' can't be stored: \(flaw)"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        change { $0.store(cookie, now()) }
    }

    /// Stores the cookie of a `Set-Cookie` field, as if a server had sent it.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - url: The absolute URL of the request.
    /// - Returns: Whether it was accepted.
    /// - Throws: `invalidURL`.
    @discardableResult
    public func insert(_ field: String, from url: String) throws(HTTPError) -> Bool {
        let origin = try CookieOrigin(HTTPURL(url))
        return change {
            $0.receive(field, from: origin, now: now(), isPublicSuffix: PublicSuffixList.contains)
        }
    }

    /// Removes cookies.
    ///
    /// - Parameter condition: Returns whether to remove a cookie.
    public func remove(where condition: (Cookie) -> Bool) {
        change { $0.remove(where: condition) }
    }

    /// Removes the cookies without an expiry, as at the end of a session.
    public func removeSessionCookies() {
        remove { $0.expires == nil }
    }

    /// Removes all cookies.
    public func removeAll() {
        remove { _ in true }
    }
}

// MARK: The requests of a session

extension CookieStore {
    /// Stores the cookies of a response.
    ///
    /// - Parameters:
    ///   - fields: The values of its `Set-Cookie` fields.
    ///   - url: The URL of its request.
    ///   - first: The URL of the request before redirects.
    func receive(_ fields: [String], from url: HTTPURL, after first: HTTPURL) {
        switch accepts {
        case .never: return
        case .onlyFromRequestedSite where !url.isSameSite(as: first): return
        case .always, .onlyFromRequestedSite: break
        }
        let origin = CookieOrigin(url)
        change { table in
            for field in fields {
                table.receive(field, from: origin, now: now(), isPublicSuffix: PublicSuffixList.contains)
            }
        }
    }

    /// Returns the cookies of a request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - first: The URL before redirects.
    ///   - isSafe: Whether the method is safe (RFC 9110, 9.2.1).
    /// - Returns: The cookies.
    func cookies(for url: HTTPURL, after first: HTTPURL, isSafe: Bool) -> [Cookie] {
        let site: CookieSite = url.isSameSite(as: first) ? .same : .other(isSafeMethod: isSafe)
        return state.withLock { $0.table.cookies(for: .init(url), site, now: now()) }
    }
}

extension HTTPURL {
    /// Returns whether both URLs have the same registrable domain.
    fileprivate func isSameSite(as other: Self) -> Bool {
        if host == other.host { return true }
        return PublicSuffixList.site(of: CookieOrigin(self).host)
            == PublicSuffixList.site(of: CookieOrigin(other).host)
    }
}

extension CookieOrigin {
    /// Creates the origin of a URL.
    init(_ url: HTTPURL) {
        self.init(host: url.host, target: url.target, isSecure: url.isSecure)
    }
}

extension Cookie {
    /// Whether the cookie is not one of all hosts under a public suffix.
    fileprivate var hasValidDomain: Bool {
        isHostOnly || CookieDomain.isAddress(domain) || !PublicSuffixList.contains(domain)
    }
}

// MARK: The file

extension CookieStore {
    /// Returns the cookies of a file; none if it does not exist.
    private static func cookies(inFile path: String) throws(HTTPError) -> [Cookie] {
        let bytes: [UInt8]
        do throws(HTTPError) {
            bytes = try FileBytes.read(path)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return []
        }
        do throws(CookieFileFault) {
            return try CookieFile.cookies(bytes)
        } catch {
            let reason = "'\(path)' is not a file of cookies in the format of Netscape: \(error)"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason, cause: error)
        }
    }

    /// Writes the file if cookies have changed since, and blocks until that is done; no effect for a store in memory.
    ///
    /// - Throws: `fileFailed` if the file can't be written.
    public func save() throws(HTTPError) {
        guard let writer else { return }
        let result = writer.sync { () -> Result<Void, HTTPError> in
            do throws(HTTPError) { return .success(try write()) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// The cookies as the contents of a file, session cookies included.
    package var netscapeText: String { CookieFile.text(cookies) }

    /// Writes the cookies to a file, session cookies included; blocks until that is done.
    ///
    /// - Throws: `fileFailed` if the file can't be written.
    package func save(to file: String) throws(HTTPError) {
        try WholeFile.write(Array(netscapeText.utf8), to: file)
    }

    /// Writes the file, on the queue of the writer.
    private func write() throws(HTTPError) {
        let changed = state.withLock { state -> [Cookie]? in
            state.isScheduled = false
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.table.cookies(now: now())
        }
        guard let file, let changed else { return }
        let kept = changed.filter { keepsSessionCookies || $0.expires != nil }
        do throws(HTTPError) {
            try WholeFile.write(Array(CookieFile.text(kept).utf8), to: file)
        } catch {
            state.withLock { $0.isChanged = true }
            throw error
        }
    }
}

extension CookieStore: CustomStringConvertible, CustomReflectable {
    /// The number of cookies, and the file.
    public var description: String {
        "CookieStore(\(storedCount.load(ordering: .relaxed)) cookies\(file.map { " of \($0)" } ?? ""))"
    }

    /// A mirror without children: cookies are as secret as passwords.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
