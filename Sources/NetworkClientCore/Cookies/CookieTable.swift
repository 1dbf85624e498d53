/// The cookies of a store, with the rules for receiving and sending them (RFC 6265bis, 5.7 and 5.8).
///
/// Times are seconds since 1970-01-01 00:00:00 UTC.
package struct CookieTable: Sendable {
    /// A function that returns whether a domain is a public suffix, such as `com` and `co.uk`, under which anyone can register names.
    package typealias IsPublicSuffix = (String) -> Bool

    /// The limits of a store.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of cookies of one domain.
        package var perDomain: Int
        /// The maximum number of all cookies.
        package var total: Int

        package init(perDomain: Int = 50, total: Int = 3_000) {
            self.perDomain = max(1, perDomain)
            self.total = max(1, total)
        }
    }

    /// A cookie, and its place in the order of creation and of use.
    private struct Entry {
        var cookie: Cookie
        var creation: Int
        var lastUse: Int
    }

    private var domains: [String: [Entry]] = [:]
    private let limits: Limits
    /// The number of cookies, including expired ones that were not removed yet.
    package private(set) var count = 0
    /// The number of the next creation or use.
    private var next = 0

    /// Creates an empty table.
    package init(limits: Limits = .init()) { self.limits = limits }

    private mutating func number() -> Int {
        next += 1
        return next
    }

    // MARK: Receiving

    /// Stores the cookie of a `Set-Cookie` field, or deletes one.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - origin: The URL of the request.
    ///   - now: The current time.
    ///   - isPublicSuffix: Returns whether a domain is a public suffix.
    /// - Returns: Whether the cookie was accepted.
    @discardableResult
    package mutating func receive(
        _ field: String,
        from origin: CookieOrigin,
        now: Int64,
        isPublicSuffix: IsPublicSuffix
    ) -> Bool {
        guard let received = SetCookie(field), let domain = Self.domain(of: received, origin, isPublicSuffix) else {
            return false
        }
        let cookie = Cookie(
            name: received.name,
            value: received.value,
            domain: domain.isEmpty ? origin.host : domain,
            isHostOnly: domain.isEmpty,
            path: received.path ?? origin.defaultPath,
            expires: received.expires(now: now),
            isSecure: received.isSecure,
            isHTTPOnly: received.isHTTPOnly,
            sameSite: received.sameSite
        )
        guard isAcceptable(cookie, hasPath: received.hasPath, isFromSecure: origin.isSecure, now) else { return false }
        store(cookie, now)
        return true
    }

    /// Returns the domain of a received cookie, empty for that of the host only; nil if the host can't set it.
    private static func domain(
        of received: SetCookie,
        _ origin: CookieOrigin,
        _ isPublicSuffix: IsPublicSuffix
    ) -> String? {
        guard let domain = received.domain, !domain.isEmpty else { return "" }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }), CookieDomain.host(origin.host, matches: domain) else { return nil }
        // An address has no subdomains, and so only cookies of the host.
        if origin.isAddress { return "" }
        guard isPublicSuffix(domain) else { return domain }
        return domain == origin.host ? "" : nil
    }

    private func isAcceptable(_ cookie: Cookie, hasPath: Bool, isFromSecure: Bool, _ now: Int64) -> Bool {
        if cookie.isSecure, !isFromSecure { return false }
        if cookie.sameSite == .none, !cookie.isSecure { return false }
        guard cookie.meetsPrefix, hasPath || !cookie.name.hasCookiePrefix("__host-") else { return false }
        return isFromSecure || !overlaysSecure(cookie, now)
    }

    /// Returns whether a cookie that was received without TLS would hide or replace one that requires TLS.
    private func overlaysSecure(_ cookie: Cookie, _ now: Int64) -> Bool {
        domains.contains { domain, entries in
            guard
                CookieDomain.host(domain, matches: cookie.domain) || CookieDomain.host(cookie.domain, matches: domain)
            else { return false }
            return entries.contains {
                $0.cookie.name == cookie.name && $0.cookie.isSecure && !$0.cookie.isExpired(at: now)
                    && CookieOrigin.path(cookie.path, matches: $0.cookie.path)
            }
        }
    }

    // MARK: Storing

    /// Stores a cookie, or deletes the one that it replaces if it has expired.
    package mutating func store(_ cookie: Cookie, _ now: Int64) {
        let number = number()
        var entries = domains[cookie.domain] ?? []
        count -= entries.count
        entries.removeAll { $0.cookie.isExpired(at: now) }
        let old = entries.firstIndex { $0.cookie.isReplaced(by: cookie) }
        let creation = old.map { entries.remove(at: $0).creation } ?? number
        if !cookie.isExpired(at: now) { entries.append(.init(cookie: cookie, creation: creation, lastUse: number)) }
        Self.removeExcess(from: &entries, over: limits.perDomain)
        count += entries.count
        domains[cookie.domain] = entries.isEmpty ? nil : entries
        removeExcess(now)
    }

    /// Removes cookies of a domain that has too many: those that do not require TLS, then any; each time those first whose
    /// last use is the longest ago.
    private static func removeExcess(from entries: inout [Entry], over limit: Int) {
        while entries.count > limit {
            let candidates = entries.indices.filter { !entries[$0].cookie.isSecure }
            let all = candidates.isEmpty ? Array(entries.indices) : candidates
            guard let oldest = all.min(by: { entries[$0].lastUse < entries[$1].lastUse }) else { return }
            entries.remove(at: oldest)
        }
    }

    /// Removes cookies if there are too many in all: the expired ones, then those whose last use is the longest ago.
    private mutating func removeExcess(_ now: Int64) {
        guard count > limits.total else { return }
        removeExpired(now)
        while count > limits.total {
            let oldest = domains.lazy.compactMap { domain, entries in
                entries.map(\.lastUse).min().map { (domain, $0) }
            }.min { $0.1 < $1.1 }
            guard let (domain, use) = oldest else { return }
            removeAll { [domain] in $0 == domain && $1.lastUse == use }
        }
    }

    private mutating func removeAll(where matches: (String, Entry) -> Bool) {
        for domain in Array(domains.keys) {
            domains[domain]?.removeAll { matches(domain, $0) }
            if domains[domain]?.isEmpty == true { domains[domain] = nil }
        }
        count = domains.values.reduce(0) { $0 + $1.count }
    }

    /// Removes the expired cookies.
    package mutating func removeExpired(_ now: Int64) {
        removeAll { $1.cookie.isExpired(at: now) }
    }

    /// Removes cookies.
    package mutating func remove(where matches: (Cookie) -> Bool) {
        removeAll { matches($1.cookie) }
    }

    // MARK: Sending

    /// Returns the cookies of a request, in the order of their field.
    ///
    /// - Parameters:
    ///   - origin: The request's URL.
    ///   - site: The relation of the URL to the one that the program has requested.
    ///   - now: The current time.
    /// - Returns: The cookies.
    package mutating func cookies(for origin: CookieOrigin, _ site: CookieSite = .same, now: Int64) -> [Cookie] {
        var found: [Entry] = []
        let number = number()
        for domain in Self.domains(of: origin) {
            guard let entries = domains[domain] else { continue }
            for index in entries.indices where entries[index].cookie.belongs(to: origin, site, now) {
                domains[domain]?[index].lastUse = number
                found.append(entries[index])
            }
        }
        found.sort { first, second in
            let lengths = (first.cookie.path.utf8.count, second.cookie.path.utf8.count)
            return lengths.0 == lengths.1 ? first.creation < second.creation : lengths.0 > lengths.1
        }
        return found.map(\.cookie)
    }

    /// Returns a host and its parent domains.
    private static func domains(of origin: CookieOrigin) -> [String] {
        guard !origin.isAddress else { return [origin.host] }
        var domains = [origin.host]
        var rest = origin.host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }

    /// Returns all cookies that have not expired, in the order of their creation.
    package func cookies(now: Int64) -> [Cookie] {
        let entries = domains.values.joined().filter { !$0.cookie.isExpired(at: now) }
        return entries.sorted { $0.creation < $1.creation }.map(\.cookie)
    }
}

/// The relation of a request's URL to the one that the program has requested, which redirects may have led to another
/// site (RFC 6265bis, 5.2).
package enum CookieSite: Sendable, Hashable {
    /// The same registrable domain.
    case same
    /// Another one.
    case other(isSafeMethod: Bool)

    /// Returns whether a cookie with a `SameSite` attribute is sent.
    fileprivate func permits(_ sameSite: Cookie.SameSite) -> Bool {
        switch (self, sameSite) {
        case (.same, _), (_, .none): true
        case (.other, .strict): false
        case (.other(let isSafeMethod), .lax), (.other(let isSafeMethod), .unspecified): isSafeMethod
        }
    }
}

extension Cookie {
    fileprivate func belongs(to origin: CookieOrigin, _ site: CookieSite, _ now: Int64) -> Bool {
        guard !isHostOnly || domain == origin.host else { return false }
        return origin.matches(path: path) && (!isSecure || origin.isSecure) && site.permits(sameSite)
            && !isExpired(at: now)
    }
}

/// The `Cookie` field (RFC 6265bis, 5.8.3).
package enum CookieField {
    /// Returns the field's value.
    ///
    /// - Parameters:
    ///   - cookies: The stored cookies.
    ///   - own: The values of the fields that the request has already, whose cookies replace stored ones of the same name.
    /// - Returns: The value; nil if no stored cookie is sent.
    package static func value(_ cookies: [Cookie], with own: [String] = []) -> String? {
        let names = Set(own.flatMap { $0.split(separator: ";") }.map(name))
        let stored = cookies.filter { !names.contains($0.name) }
        guard !stored.isEmpty else { return nil }
        let pairs = stored.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        return (pairs + own).joined(separator: "; ")
    }

    /// Returns the name of a pair; empty if it has none.
    private static func name(_ pair: Substring) -> String {
        guard let end = pair.firstIndex(of: "=") else { return "" }
        let name = pair[..<end].utf8.drop(while: \.isBlank)
        return String(Substring(name.prefix { !$0.isBlank }))
    }
}
