/// The head of a stored response, with the times from which its age follows (RFC 9111, 4.2).
///
/// Times are seconds since 1970-01-01 00:00:00 UTC.
package struct CachedResponse: Sendable, Hashable {
    package var status: Int
    package var reason: String
    package var fields: CachedFields
    /// The time of the request that led to the response, or to its last validation.
    package var requestTime: Int64
    /// The time at which it was received, or last validated.
    package var responseTime: Int64

    package init(status: Int, reason: String, fields: CachedFields, requestTime: Int64, responseTime: Int64) {
        (self.status, self.reason, self.fields) = (status, reason, fields)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
    }

    package var directives: CacheDirectives { .init(fields.values(of: "Cache-Control")) }

    /// The time in `Date`, or else that at which it was received (RFC 9110, 6.6.1).
    package var date: Int64 { fields.single("Date").flatMap { HTTPDate($0)?.seconds } ?? responseTime }

    package var lastModified: Int64? { fields.single("Last-Modified").flatMap { HTTPDate($0)?.seconds } }

    /// The entity tag, with its `W/`; nil if there is none that is valid.
    package var entityTag: String? {
        fields.single("ETag").flatMap { EntityTag.isValid($0) ? $0 : nil }
    }

    /// Returns the age in seconds (RFC 9111, 4.2.3).
    package func age(at now: Int64) -> Int64 {
        let apparent = max(0, responseTime - date)
        let corrected = statedAge + max(0, responseTime - requestTime)
        return min(CacheDirectives.longest, max(apparent, corrected) + max(0, now - responseTime))
    }

    /// The value of `Age`: its first member, or 0 if that is invalid (RFC 9111, 5.1).
    private var statedAge: Int64 {
        CacheDirectives.seconds(fields.list(of: "Age").first) ?? 0
    }

    /// The time for which a response is fresh.
    package struct Lifetime: Sendable, Hashable {
        /// Seconds.
        package var seconds: Int64
        /// Whether it was estimated, because the server states none (RFC 9111, 4.2.2).
        package var isHeuristic = false
    }

    /// The time for which it is fresh, counted as its age is (RFC 9111, 4.2.1).
    package var lifetime: Lifetime {
        let directives = directives
        if directives.hasInvalidMaxAge { return .init(seconds: 0) }
        if let maxAge = directives.maxAge { return .init(seconds: maxAge) }
        if fields.contains("Expires") {
            let expires = fields.single("Expires").flatMap { HTTPDate($0)?.seconds }
            return .init(seconds: min(CacheDirectives.longest, max(0, (expires ?? 0) - date)))
        }
        guard CacheStatus.isHeuristicallyCacheable(status) || directives.isPublic else { return .init(seconds: 0) }
        guard let lastModified, lastModified < date else { return .init(seconds: 0, isHeuristic: true) }
        return .init(seconds: min(Self.longestEstimate, (date - lastModified) / 10), isHeuristic: true)
    }

    /// The longest estimated time, in seconds: a day.
    private static let longestEstimate: Int64 = 86_400

    /// Returns the seconds since it is stale; negative or nil while it is fresh.
    package func staleness(at now: Int64) -> Int64? {
        // A clock that was set back says nothing about the time that has passed.
        guard now >= responseTime else { return CacheDirectives.longest }
        let past = age(at: now) - lifetime.seconds
        return past >= 0 ? past : nil
    }
}

/// The status codes of responses, as a cache distinguishes them.
package enum CacheStatus {
    /// Returns whether a response may be stored without an explicit permission (RFC 9110, 15.1), apart from 206.
    package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Returns whether the status code is defined in RFC 9110, and its requirements for caches are implemented.
    package static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: status != 304
        default: false
        }
    }

    /// Returns whether a response is an error for `stale-if-error` (RFC 5861, 4).
    package static func isServerError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}

/// Entity tags (RFC 9110, 8.8.3).
package enum EntityTag {
    package static func isWeak(_ tag: String) -> Bool { tag.utf8.starts(with: "W/".utf8) }

    /// Returns whether a text is an entity tag.
    package static func isValid(_ tag: String) -> Bool {
        let quoted = opaque(tag).utf8
        guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""), quoted.last == UInt8(ascii: "\"") else {
            return false
        }
        return quoted.dropFirst().dropLast().allSatisfy { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
    }

    /// Returns whether two tags are of the same or an equivalent representation (8.8.3.2).
    package static func matchesWeakly(_ tag: String, _ other: String) -> Bool { opaque(tag) == opaque(other) }

    /// Returns whether two tags are of the same representation (8.8.3.2).
    package static func matchesStrongly(_ tag: String, _ other: String) -> Bool { !isWeak(tag) && tag == other }

    private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }

    /// Returns the tags of a list such as that of `If-None-Match`; nil for `*` or an invalid list.
    package static func list(_ values: [String]) -> [String]? {
        var tags: [String] = []
        for value in values {
            var rest = Array(value.utf8)[...]
            while true {
                rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
                if rest.isEmpty { break }
                let prefix = rest.starts(with: "W/".utf8) ? 2 : 0
                let body = rest.dropFirst(prefix)
                guard body.first == UInt8(ascii: "\""),
                    let end = body.dropFirst().firstIndex(of: UInt8(ascii: "\""))
                else { return nil }
                tags.append(String(decoding: rest[...end], as: UTF8.self))
                rest = rest[(end + 1)...]
            }
        }
        return tags
    }
}
