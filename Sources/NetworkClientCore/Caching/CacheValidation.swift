/// The validation of stored responses, and the responses that a cache makes of them (RFC 9111, 4.3; RFC 9110, 13).
package enum ValidationRules {
    /// Returns the conditions that validate a stored response; empty if it has no validator (RFC 9111, 4.3.1).
    package static func conditions(for stored: CachedResponse) -> [CachedField] {
        var conditions: [CachedField] = []
        if let tag = stored.entityTag { conditions.append(.init("If-None-Match", tag)) }
        if stored.lastModified != nil, let text = stored.fields.single("Last-Modified") {
            conditions.append(.init("If-Modified-Since", text))
        }
        return conditions
    }

    /// Returns whether a 304 confirms a stored response (RFC 9111, 4.3.4).
    package static func confirms(_ notModified: CachedResponse, _ stored: CachedResponse) -> Bool {
        if let tag = notModified.entityTag {
            guard let own = stored.entityTag else { return false }
            return EntityTag.matchesWeakly(tag, own)
        }
        guard let date = notModified.lastModified else { return true }
        return date == stored.lastModified
    }

    /// Returns whether a 304 names the stored response, as one for a condition that the cache did not set must.
    package static func identifies(_ notModified: CachedResponse, _ stored: CachedResponse) -> Bool {
        if let tag = notModified.entityTag, let own = stored.entityTag { return EntityTag.matchesWeakly(tag, own) }
        return notModified.entityTag == nil && notModified.lastModified != nil
            && notModified.lastModified == stored.lastModified
    }

    /// Returns a stored response with the fields of a 304, or of a response to HEAD (RFC 9111, 3.2).
    package static func updated(_ stored: CachedResponse, by newer: CachedResponse) -> CachedResponse {
        var updated = stored
        (updated.requestTime, updated.responseTime) = (newer.requestTime, newer.responseTime)
        let fields = newer.fields.storable.all.filter { !keptFields.contains($0.name.lowercased()) }
        // The age of the earlier response does not add to that of the newer one.
        updated.fields.remove("Age")
        // A message without Date is dated by its receipt (RFC 9110, 6.6.1).
        updated.fields.remove("Date")
        for name in Set(fields.map { $0.name.lowercased() }) { updated.fields.remove(name) }
        updated.fields.all += fields
        return updated
    }

    /// The fields that describe the stored body.
    private static let keptFields = ["content-length", "content-encoding", "content-type", "content-range"]

    /// Returns whether a response to HEAD shows that a stored response to GET is current (RFC 9111, 4.3.5).
    package static func confirms(head: CachedResponse, _ stored: CachedResponse) -> Bool {
        guard head.status == stored.status else { return false }
        return ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
            guard let value = head.fields.single(name) else { return !head.fields.contains(name) }
            return value == stored.fields.single(name)
        }
    }

    /// Returns whether the condition of a request is false for a stored response, so that it is a 304 (RFC 9111, 4.3.2).
    package static func isNotModified(_ stored: CachedResponse, for request: CacheRequest) -> Bool {
        guard stored.status == 200 else { return false }
        let conditions = request.fields.values(of: "If-None-Match")
        guard conditions.isEmpty else {
            if conditions.map(\.trimmingBlanks) == ["*"] { return true }
            guard let tags = EntityTag.list(conditions), let own = stored.entityTag else { return false }
            return tags.contains { EntityTag.matchesWeakly($0, own) }
        }
        guard let text = request.fields.single("If-Modified-Since"), let limit = HTTPDate(text)?.seconds else {
            return false
        }
        return (stored.lastModified ?? stored.date) <= limit
    }

    /// Returns the fields of a 304 that a cache makes of a stored response (RFC 9110, 15.4.5).
    package static func notModifiedFields(of stored: CachedResponse) -> CachedFields {
        let names = ["cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified"]
        return .init(stored.fields.all.filter { names.contains($0.name.lowercased()) })
    }
}

/// The part of a stored response that a request asks for (RFC 9110, 14).
package enum CachedRange: Sendable, Hashable {
    /// The whole body.
    case whole
    /// These bytes.
    case part(Range<Int64>)
    /// The stored response can't satisfy it: the server decides.
    case unsatisfied

    /// Reads the range of a request for a stored response.
    package init(of request: CacheRequest, _ stored: CachedResponse, length: Int64) {
        guard request.method == "GET", stored.status == 200, request.fields.contains("Range") else {
            self = .whole
            return
        }
        guard Self.isCurrent(request, stored) else {
            self = .whole
            return
        }
        guard let text = request.fields.single("Range"), let range = Self.range(text, length: length) else {
            self = .unsatisfied
            return
        }
        self = .part(range)
    }

    /// Returns whether `If-Range` is absent or true (RFC 9110, 13.1.5).
    private static func isCurrent(_ request: CacheRequest, _ stored: CachedResponse) -> Bool {
        guard request.fields.contains("If-Range") else { return true }
        guard let condition = request.fields.single("If-Range") else { return false }
        if let tag = stored.entityTag, EntityTag.matchesStrongly(tag, condition) { return true }
        // A date is a strong validator if the response was sent a minute after it at least (8.8.2.2).
        guard let date = HTTPDate(condition)?.seconds, let modified = stored.lastModified else { return false }
        return date == modified && stored.date - modified >= 60
    }

    /// Parses a single range of bytes; nil for another unit, several ranges, or one outside the body.
    private static func range(_ text: String, length: Int64) -> Range<Int64>? {
        let bytes = text.trimmingBlanks
        guard bytes.lowercased().hasPrefix("bytes="), length > 0 else { return nil }
        let parts = bytes.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (first, last) = (parts[0].trimmingBlanks, parts[1].trimmingBlanks)
        if first.isEmpty {
            guard let count = number(last), count > 0 else { return nil }
            return max(0, length - count)..<length
        }
        guard let start = number(first), start < length else { return nil }
        if last.isEmpty { return start..<length }
        guard let end = number(last), end >= start else { return nil }
        return start..<min(length, end < .max ? end + 1 : end)
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy(\.isASCIIDigit) ? Int64(text) : nil
    }
}
