import Testing

@testable import NetworkClientCore

/// The normative statements about caches: RFC 9111, RFC 5861, and RFC 9110 on conditions and ranges.
@Suite("Statements about caches")
struct CacheStatementTests {
    typealias Case = CacheCase

    @Test(arguments: storing + fields + lifetimes + ages)
    func `what is stored, and for how long it is fresh`(statement: CacheStatement) {
        #expect(statement.actual == statement.expected, "\(statement)")
    }

    @Test(arguments: reuse + requestDirectives + staleness + policies)
    func `what is reused`(statement: CacheStatement) {
        #expect(statement.actual == statement.expected, "\(statement)")
    }

    @Test(arguments: variants + validation + updates + conditions + ranges)
    func `what is validated, updated and divided`(statement: CacheStatement) {
        #expect(statement.actual == statement.expected, "\(statement)")
    }
}

// MARK: RFC 9111, 3 and 5.2.2

extension CacheStatementTests {
    static let storing: [CacheStatement] = [
        .init("9111 3", "GET is understood", Case.stored("Cache-Control: max-age=5"), "stored"),
        .init("9111 3", "POST is not stored", Case.stored("Cache-Control: max-age=5", method: "POST"), "method"),
        .init("9111 3", "HEAD is not stored", Case.stored("Cache-Control: max-age=5", method: "HEAD"), "method"),
        .init("9111 3", "an interim response is not final", Case.stored(status: 103), "status"),
        .init("9111 3", "304 is not stored", Case.stored("Cache-Control: max-age=5", status: 304), "status"),
        .init(
            "9111 3",
            "206 needs support for ranges",
            Case.stored("Cache-Control: max-age=5", status: 206),
            "partial"
        ),
        .init(
            "9111 3",
            "Expires permits",
            Case.stored("Expires: Thu, 01 Jan 2026 01:00:00 GMT", status: 500),
            "stored"
        ),
        .init(
            "9111 3",
            "max-age permits any final status",
            Case.stored("Cache-Control: max-age=5", status: 503),
            "stored"
        ),
        .init(
            "9111 3",
            "max-age permits an unknown status",
            Case.stored("Cache-Control: max-age=5", status: 299),
            "stored"
        ),
        .init("9111 3", "public permits", Case.stored("Cache-Control: public", status: 403), "stored"),
        .init(
            "9111 3",
            "private permits in a private cache",
            Case.stored("Cache-Control: private", status: 403),
            "stored"
        ),
        .init("9111 3", "private with names, too", Case.stored("Cache-Control: private=\"x\", max-age=1"), "stored"),
        .init("9111 3", "nothing permits 500", Case.stored(status: 500), "notCacheable"),
        .init(
            "9111 3",
            "s-maxage does not permit in a private cache",
            Case.stored("Cache-Control: s-maxage=5", status: 500),
            "notCacheable"
        ),
        .init("9110 15.1", "200 is heuristically cacheable", Case.stored(), "stored"),
        .init("9110 15.1", "204 is", Case.stored(status: 204), "stored"),
        .init("9110 15.1", "301 is", Case.stored(status: 301), "stored"),
        .init("9110 15.1", "308 is", Case.stored(status: 308), "stored"),
        .init("9110 15.1", "404 is", Case.stored(status: 404), "stored"),
        .init("9110 15.1", "410 is", Case.stored(status: 410), "stored"),
        .init("9110 15.1", "501 is", Case.stored(status: 501), "stored"),
        .init("9110 15.1", "302 is not", Case.stored(status: 302), "notCacheable"),
        .init("9110 15.1", "307 is not", Case.stored(status: 307), "notCacheable"),
        .init("9110 15.1", "400 is not", Case.stored(status: 400), "notCacheable"),
        .init(
            "9110 11.7.1",
            "407 belongs to the connection",
            Case.stored("Cache-Control: max-age=5", status: 407),
            "status"
        ),
        .init(
            "9110 11.6.1",
            "401 belongs to the challenge",
            Case.stored("Cache-Control: max-age=5", status: 401),
            "status"
        ),
        .init("9111 5.2.2.5", "no-store", Case.stored("Cache-Control: no-store"), "noStore"),
        .init("9111 5.2.2.5", "no-store among others", Case.stored("Cache-Control: max-age=9, No-Store"), "noStore"),
        .init(
            "9111 5.2.2.5",
            "no-store in the second line",
            Case.stored("Cache-Control: max-age=9", "Cache-Control: no-store"),
            "noStore"
        ),
        .init("9111 5.2.1.5", "no-store of the request", Case.stored(to: ["Cache-Control: no-store"]), "noStore"),
        .init(
            "9111 5.2.2.3",
            "must-understand overrides no-store",
            Case.stored("Cache-Control: must-understand, no-store, max-age=5"),
            "stored"
        ),
        .init(
            "9111 5.2.2.3",
            "must-understand with an unknown status",
            Case.stored("Cache-Control: must-understand, max-age=5", status: 299),
            "status"
        ),
        .init("9111 5.2.2.4", "no-cache may be stored", Case.stored("Cache-Control: no-cache"), "stored"),
        .init(
            "9111 3.5",
            "Authorization without leave",
            Case.stored("Cache-Control: max-age=5", to: ["Authorization: Basic x"]),
            "authorization"
        ),
        .init(
            "9111 3.5",
            "Authorization with public",
            Case.stored("Cache-Control: public", to: ["Authorization: x"]),
            "stored"
        ),
        .init(
            "9111 3.5",
            "Authorization with must-revalidate",
            Case.stored("Cache-Control: must-revalidate", to: ["Authorization: x"]),
            "stored"
        ),
        .init(
            "9111 3.5",
            "Authorization with s-maxage",
            Case.stored("Cache-Control: s-maxage=5", to: ["Authorization: x"]),
            "stored"
        ),
        .init(
            "9111 5.2.2.10",
            "s-maxage of 0 beside max-age is no leave",
            Case.stored("Cache-Control: s-maxage=0, max-age=60", to: ["Authorization: x"]),
            "authorization"
        ),
        .init(
            "9111 5.2.2.10",
            "an invalid s-maxage is no leave",
            Case.stored("Cache-Control: s-maxage=9, s-maxage=x, max-age=60", to: ["Authorization: x"]),
            "authorization"
        ),
        .init(
            "9111 5.2.2.10",
            "s-maxage of 0 does not forbid in a private cache",
            Case.stored("Cache-Control: s-maxage=0, max-age=60"),
            "stored"
        ),
        .init(
            "9111 3.5",
            "private is no leave",
            Case.stored("Cache-Control: private", to: ["Authorization: x"]),
            "authorization"
        ),
        .init(
            "9111 3",
            "private outweighs must-revalidate",
            Case.stored("Cache-Control: private, max-age=9, must-revalidate", to: ["Authorization: x"]),
            "authorization"
        ),
        .init(
            "9111 5.2.2.7",
            "private outweighs s-maxage",
            Case.stored("Cache-Control: private, s-maxage=9", to: ["Authorization: x"]),
            "authorization"
        ),
        .init("9111 4.1", "Vary: * never matches", Case.stored("Vary: *"), "variesOnEverything"),
        .init("9111 4.1", "Vary: * among others", Case.stored("Vary: accept", "Vary: a, *"), "variesOnEverything"),
        .init("9111 3.3", "an unasked part is incomplete", Case.stored("Content-Range: bytes 0-1/5"), "partial"),
        .init(
            "HTML 9.2",
            "an event stream has no end",
            Case.stored("Content-Type: text/event-stream; charset=utf-8"),
            "stream"
        ),
    ]

    static let fields: [CacheStatement] = [
        .init("9111 3.1", "unknown fields are stored", Case.storable("X-Any: 1", "ETag: \"a\""), "X-Any ETag"),
        .init(
            "9111 3.1",
            "Connection and those it names are not",
            Case.storable("Connection: X-One, close", "x-one: 1", "A: 2"),
            "A"
        ),
        .init(
            "9111 3.1",
            "fields of a hop are not",
            Case.storable("Keep-Alive: 1", "TE: x", "Upgrade: h2c", "Transfer-Encoding: chunked", "Trailer: X", "B: 1"),
            "B"
        ),
        .init(
            "9111 3.1",
            "fields for proxies are not",
            Case.storable(
                "Proxy-Authenticate: Basic",
                "Proxy-Authorization: x",
                "Proxy-Authentication-Info: y",
                "C: 1"
            ),
            "C"
        ),
        .init("9111 3.1", "Set-Cookie is no exception", Case.storable("Set-Cookie: a=1"), "Set-Cookie"),
        .init("9111 5.2", "names in any case", Case.lifetime("Cache-Control: Max-AGE=7"), "7"),
        .init("9111 5.2", "an argument may be quoted", Case.lifetime("Cache-Control: max-age=\"7\""), "7"),
        .init(
            "9111 5.2",
            "unknown directives are ignored",
            Case.lifetime("Cache-Control: x=1, y, z=\"a, max-age=2\", max-age=7"),
            "7"
        ),
        .init(
            "9111 5.2",
            "a comma in quotes divides nothing",
            Case.lifetime("Cache-Control: x=\"\\\", max-age=1\", max-age=7"),
            "7"
        ),
        .init("9110 5.6.1", "empty elements are ignored", Case.lifetime("Cache-Control: ,, max-age=7 ,"), "7"),
        .init(
            "9111 1.2.2",
            "too many seconds are 2^31",
            Case.lifetime("Cache-Control: max-age=99999999999999999999"),
            "2147483648"
        ),
        .init("9111 1.2.2", "leading zeros are digits", Case.lifetime("Cache-Control: max-age=007"), "7"),
    ]

    // MARK: RFC 9111, 4.2

    static let lifetimes: [CacheStatement] = [
        .init(
            "9111 4.2.1",
            "max-age before Expires",
            Case.lifetime("Cache-Control: max-age=7", "Expires: Thu, 01 Jan 2026 01:00:00 GMT"),
            "7"
        ),
        .init(
            "9111 4.2.1",
            "s-maxage is for shared caches",
            Case.lifetime("Cache-Control: s-maxage=9, max-age=7"),
            "7"
        ),
        .init(
            "9111 5.2.2.10",
            "s-maxage of 0 does not shorten max-age",
            Case.lifetime("Cache-Control: s-maxage=0, max-age=7"),
            "7"
        ),
        .init(
            "9111 5.2.2.10",
            "s-maxage of 0 does not replace Expires",
            Case.lifetime("Cache-Control: s-maxage=0", "Expires: Thu, 01 Jan 2026 01:00:00 GMT"),
            "3600"
        ),
        .init("9111 4.2.1", "Expires minus Date", Case.lifetime("Expires: Thu, 01 Jan 2026 01:00:00 GMT"), "3600"),
        .init(
            "9111 4.2.1",
            "Expires counts from the sender's Date",
            Case.lifetime("Date: Wed, 31 Dec 2025 00:00:00 GMT", "Expires: Thu, 01 Jan 2026 00:00:00 GMT"),
            "86400"
        ),
        .init(
            "9110 6.6.1",
            "without Date, from the time of receipt",
            Case.lifetime("No-Date", "Expires: Thu, 01 Jan 2026 00:01:00 GMT"),
            "60"
        ),
        .init(
            "9111 4.2.1",
            "invalid max-age is stale",
            Case.lifetime("Cache-Control: max-age=1.5", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "0"
        ),
        .init("9111 4.2.1", "negative max-age is stale", Case.lifetime("Cache-Control: max-age=-7"), "0"),
        .init("9111 4.2.1", "max-age in single quotes is stale", Case.lifetime("Cache-Control: max-age='7'"), "0"),
        .init("9111 4.2.1", "max-age with blanks is stale", Case.lifetime("Cache-Control: max-age= 7"), "0"),
        .init("9111 4.2.1", "max-age without an argument is stale", Case.lifetime("Cache-Control: max-age"), "0"),
        .init(
            "9111 4.2.1",
            "contradicting max-age is stale",
            Case.lifetime("Cache-Control: max-age=7, max-age=8"),
            "0"
        ),
        .init(
            "9111 4.2.1",
            "repeated max-age is one",
            Case.lifetime("Cache-Control: max-age=7", "Cache-Control: max-age=7"),
            "7"
        ),
        .init(
            "9111 5.3",
            "invalid Expires is in the past",
            Case.lifetime("Expires: 0", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "0"
        ),
        .init("9111 5.3", "Expires in the past", Case.lifetime("Expires: Wed, 31 Dec 2025 00:00:00 GMT"), "0"),
        .init(
            "9111 5.3",
            "contradicting Expires is stale",
            Case.lifetime("Expires: Thu, 01 Jan 2026 01:00:00 GMT", "Expires: Thu, 01 Jan 2026 02:00:00 GMT"),
            "0"
        ),
        .init(
            "9110 5.6.7",
            "obsolete dates are read",
            Case.lifetime("Expires: Thursday, 01-Jan-26 01:00:00 GMT"),
            "3600"
        ),
        .init("9110 5.6.7", "those of asctime, too", Case.lifetime("Expires: Thu Jan  1 01:00:00 2026"), "3600"),
        .init(
            "9111 4.2.2",
            "a tenth of the time since the last change",
            Case.lifetime("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "8640 estimated"
        ),
        .init(
            "9111 4.2.2",
            "an estimate is at most a day",
            Case.lifetime("Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"),
            "86400 estimated"
        ),
        .init(
            "9111 4.2.2",
            "no estimate with an explicit time",
            Case.lifetime("Cache-Control: max-age=0", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "0"
        ),
        .init(
            "9111 4.2.2",
            "no estimate for other statuses",
            Case.lifetime("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", status: 302),
            "0"
        ),
        .init(
            "9111 4.2.2",
            "public permits one",
            Case.lifetime("Cache-Control: public", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", status: 302),
            "8640 estimated"
        ),
        .init("9111 4.2.2", "nothing to estimate from", Case.lifetime(), "0 estimated"),
        .init(
            "9111 4.2.2",
            "a change in the future",
            Case.lifetime("Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT"),
            "0 estimated"
        ),
    ]

    static let ages: [CacheStatement] = [
        .init("9111 4.2.3", "resident time", Case.age(after: 7), "7"),
        .init("9111 4.2.3", "apparent age", Case.age("Date: Wed, 31 Dec 2025 23:59:00 GMT", after: 7), "67"),
        .init(
            "9111 4.2.3",
            "the larger of apparent and corrected",
            Case.age("Date: Wed, 31 Dec 2025 23:59:00 GMT", "Age: 100"),
            "100"
        ),
        .init("9111 4.2.3", "the delay of the response adds to Age", Case.age("Age: 100", after: 1, took: 5), "106"),
        .init(
            "9111 4.2.3",
            "Date in the future has no age",
            Case.age("Date: Fri, 02 Jan 2026 00:00:00 GMT", after: 3),
            "3"
        ),
        .init("9111 5.1", "invalid Age is ignored", Case.age("Age: seven"), "0"),
        .init("9111 5.1", "negative Age is ignored", Case.age("Age: -7"), "0"),
        .init("9111 5.1", "the first of several", Case.age("Age: 7, 9"), "7"),
        .init("9111 5.1", "the first line", Case.age("Age: 7", "Age: 9"), "7"),
        .init("9111 1.2.2", "Age is at most 2^31", Case.age("Age: 99999999999"), "2147483648"),
        .init("9111 4.2.3", "without Date, the time of receipt", Case.age("No-Date", after: 4), "4"),
    ]
}

// MARK: RFC 9111, 4 and 5.2

extension CacheStatementTests {
    static let reuse: [CacheStatement] = [
        .init("9111 4", "fresh", Case.used("Cache-Control: max-age=5", after: 4), "fresh"),
        .init("9111 4.2", "not longer than its lifetime", Case.used("Cache-Control: max-age=5", after: 5), "forward"),
        .init(
            "9111 4.2",
            "a received Age counts",
            Case.used("Cache-Control: max-age=5", "Age: 3", after: 2),
            "forward"
        ),
        .init("9111 4", "a clock that was set back", Case.used("Cache-Control: max-age=5", after: -9), "forward"),
        .init(
            "9111 5.2.2.10",
            "s-maxage of 0 requires no validation by a private cache",
            Case.used("Cache-Control: s-maxage=0, max-age=5", after: 4),
            "fresh"
        ),
        .init("9111 5.2.2.4", "no-cache", Case.used("Cache-Control: no-cache, max-age=5"), "forward"),
        .init(
            "9111 5.2.2.4",
            "no-cache with names may be one without",
            Case.used("Cache-Control: no-cache=\"set-cookie\", max-age=5"),
            "forward"
        ),
        .init(
            "9111 4.2.1",
            "no-cache beats max-age",
            Case.used("Cache-Control: max-age=5", "Cache-Control: no-cache"),
            "forward"
        ),
        .init(
            "9111 5.2.2.2",
            "must-revalidate while fresh",
            Case.used("Cache-Control: must-revalidate, max-age=5"),
            "fresh"
        ),
        .init(
            "9111 5.2.2.2",
            "must-revalidate when stale",
            Case.used("Cache-Control: must-revalidate, max-age=5", after: 9, to: ["Cache-Control: max-stale"]),
            "forward"
        ),
        .init(
            "9111 5.2.2.8",
            "proxy-revalidate is for shared caches",
            Case.used("Cache-Control: proxy-revalidate, max-age=5", after: 9, to: ["Cache-Control: max-stale"]),
            "stale(NetworkClientCore.StalePermission.request)"
        ),
        .init("9111 4", "HEAD from a stored GET", Case.used("Cache-Control: max-age=5", method: "HEAD"), "fresh"),
        .init(
            "9111 4",
            "an estimate is fresh",
            Case.used("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", after: 8_000),
            "fresh"
        ),
        .init(
            "9111 4",
            "an estimate ends",
            Case.used("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", after: 9_000),
            "forward"
        ),
        .init("9111 4", "a method that is not safe is not reused", Case.mayUse(method: "POST"), "server"),
        .init("9111 4", "GET and HEAD are", Case.mayUse(method: "HEAD"), "cache"),
        .init("9111 4.3.2", "If-Match is for the origin", Case.mayUse("If-Match: \"a\""), "server"),
        .init("9111 4.3.2", "If-Unmodified-Since is for the origin", Case.mayUse("If-Unmodified-Since: x"), "server"),
        .init("9110 13.1.5", "If-Range without Range", Case.mayUse("If-Range: \"a\""), "server"),
    ]

    static let requestDirectives: [CacheStatement] = [
        .init(
            "9111 5.2.1.1",
            "max-age: not older",
            Case.used("Cache-Control: max-age=9", after: 3, to: ["Cache-Control: max-age=3"]),
            "fresh"
        ),
        .init(
            "9111 5.2.1.1",
            "max-age: older",
            Case.used("Cache-Control: max-age=9", after: 4, to: ["Cache-Control: max-age=3"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.1",
            "max-age: not stale either",
            Case.used("Cache-Control: max-age=2", after: 2, to: ["Cache-Control: max-age=3"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.1",
            "max-age with max-stale",
            Case.used("Cache-Control: max-age=2", after: 3, to: ["Cache-Control: max-age=3, max-stale=9"]),
            "stale(NetworkClientCore.StalePermission.request)"
        ),
        .init(
            "9111 5.2.1.1",
            "an invalid max-age accepts nothing",
            Case.used("Cache-Control: max-age=9", to: ["Cache-Control: max-age=x"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.2",
            "max-stale: any",
            Case.used("Cache-Control: max-age=2", after: 999, to: ["Cache-Control: max-stale"]),
            "stale(NetworkClientCore.StalePermission.request)"
        ),
        .init(
            "9111 5.2.1.2",
            "max-stale: enough",
            Case.used("Cache-Control: max-age=2", after: 5, to: ["Cache-Control: max-stale=3"]),
            "stale(NetworkClientCore.StalePermission.request)"
        ),
        .init(
            "9111 5.2.1.2",
            "max-stale: too little",
            Case.used("Cache-Control: max-age=2", after: 6, to: ["Cache-Control: max-stale=3"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.3",
            "min-fresh: enough",
            Case.used("Cache-Control: max-age=9", after: 4, to: ["Cache-Control: min-fresh=5"]),
            "fresh"
        ),
        .init(
            "9111 5.2.1.3",
            "min-fresh: too little",
            Case.used("Cache-Control: max-age=9", after: 5, to: ["Cache-Control: min-fresh=5"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.4",
            "no-cache",
            Case.used("Cache-Control: max-age=9", to: ["Cache-Control: no-cache"]),
            "forward"
        ),
        .init(
            "9111 5.2.1.5",
            "no-store does not prevent reuse",
            Case.used("Cache-Control: max-age=9", to: ["Cache-Control: no-store"]),
            "fresh"
        ),
        .init(
            "9111 5.2.1.7",
            "only-if-cached with a response",
            Case.used("Cache-Control: max-age=9", to: ["Cache-Control: only-if-cached"]),
            "fresh"
        ),
        .init(
            "9111 5.2.1.7",
            "only-if-cached when stale",
            Case.used("Cache-Control: max-age=9", after: 9, to: ["Cache-Control: only-if-cached"]),
            "unavailable"
        ),
        .init(
            "9111 5.2.1.7",
            "only-if-cached without one",
            Case.unused("Cache-Control: only-if-cached"),
            "unavailable"
        ),
        .init(
            "9111 5.4",
            "Pragma without Cache-Control",
            Case.used("Cache-Control: max-age=9", to: ["Pragma: no-cache"]),
            "forward"
        ),
        .init(
            "9111 5.4",
            "Pragma with Cache-Control",
            Case.used("Cache-Control: max-age=9", to: ["Pragma: no-cache", "Cache-Control: max-age=9"]),
            "fresh"
        ),
        .init("9111 4", "nothing stored", Case.unused(), "forward"),
    ]

    static let staleness: [CacheStatement] = [
        .init(
            "5861 3",
            "stale-while-revalidate",
            Case.used("Cache-Control: max-age=5, stale-while-revalidate=5", after: 10),
            "stale(NetworkClientCore.StalePermission.whileRevalidating)"
        ),
        .init(
            "5861 3",
            "not longer",
            Case.used("Cache-Control: max-age=5, stale-while-revalidate=5", after: 11),
            "forward"
        ),
        .init(
            "5861 3",
            "invalid is absent",
            Case.used("Cache-Control: max-age=5, stale-while-revalidate=x", after: 6),
            "forward"
        ),
        .init(
            "9111 5.2.2.2",
            "must-revalidate prohibits it",
            Case.used("Cache-Control: max-age=5, stale-while-revalidate=5, must-revalidate", after: 6),
            "forward"
        ),
        .init(
            "9111 5.2.2.4",
            "no-cache prohibits it",
            Case.used("Cache-Control: no-cache, stale-while-revalidate=5"),
            "forward"
        ),
        .init(
            "9111 5.2.1.1",
            "max-age of the request prohibits it",
            Case.used("Cache-Control: max-age=5, stale-while-revalidate=5", after: 6, to: ["Cache-Control: max-age=9"]),
            "forward"
        ),
        .init(
            "5861 4",
            "stale-if-error of the response",
            Case.replaces("Cache-Control: max-age=5, stale-if-error=5", after: 10),
            "stale response"
        ),
        .init("5861 4", "not longer", Case.replaces("Cache-Control: max-age=5, stale-if-error=5", after: 11), "error"),
        .init(
            "5861 4",
            "stale-if-error of the request",
            Case.replaces("Cache-Control: max-age=5", after: 9, to: ["Cache-Control: stale-if-error=5"]),
            "stale response"
        ),
        .init("5861 4", "absent", Case.replaces("Cache-Control: max-age=5", after: 9), "error"),
        .init(
            "9111 4.2.4",
            "must-revalidate prohibits it",
            Case.replaces("Cache-Control: max-age=5, stale-if-error=5, must-revalidate", after: 6),
            "error"
        ),
        .init(
            "9111 4.2.4",
            "no-cache prohibits it",
            Case.replaces("Cache-Control: no-cache, stale-if-error=5", after: 1),
            "error"
        ),
        .init(
            "9111 4.2.4",
            "disconnected, with max-stale",
            Case.replaces("Cache-Control: max-age=5", after: 9, to: ["Cache-Control: max-stale=4"]),
            "stale response"
        ),
        .init(
            "9111 4.2.4",
            "disconnected, by the policy",
            Case.replaces("Cache-Control: max-age=5", after: 999, mode: .staleIfUnreachable),
            "stale response"
        ),
        .init(
            "9111 4.2.4",
            "not against must-revalidate",
            Case.replaces("Cache-Control: must-revalidate", after: 999, mode: .staleIfUnreachable),
            "error"
        ),
        .init(
            "9111 4.2.4",
            "not for a request that reloads",
            Case.replaces("Cache-Control: stale-if-error=99", after: 9, mode: .ignoring),
            "error"
        ),
    ]

    static let policies: [CacheStatement] = [
        .init(
            "policy",
            "returnCacheElseLoad, stale",
            Case.used("Cache-Control: max-age=5", after: 99, mode: .storedFirst),
            "stale(NetworkClientCore.StalePermission.policy)"
        ),
        .init(
            "policy",
            "returnCacheElseLoad, fresh",
            Case.used("Cache-Control: max-age=5", mode: .storedFirst),
            "fresh"
        ),
        .init("policy", "returnCacheElseLoad, nothing", Case.unused(mode: .storedFirst), "forward"),
        .init(
            "policy",
            "returnCacheDontLoad, stale",
            Case.used("Cache-Control: no-cache", after: 99, mode: .storedOnly),
            "stale(NetworkClientCore.StalePermission.policy)"
        ),
        .init("policy", "returnCacheDontLoad, nothing", Case.unused(mode: .storedOnly), "unavailable"),
        .init("policy", "reloadIgnoringLocalCache", Case.used("Cache-Control: max-age=5", mode: .ignoring), "bypass"),
        .init("policy", "reloadRevalidating", Case.used("Cache-Control: max-age=5", mode: .validating), "forward"),
    ]
}

// MARK: RFC 9111, 4.1 and 4.3; RFC 9110, 13 and 14

extension CacheStatementTests {
    static let variants: [CacheStatement] = [
        .init("9111 4.1", "equal fields", Case.matches("Accept", ["Accept: a"], ["accept: a"]), "match"),
        .init("9111 4.1", "different values", Case.matches("Accept", ["Accept: a"], ["Accept: b"]), "differ"),
        .init("9111 4.1", "absent from both", Case.matches("Accept", [], ["X: 1"]), "match"),
        .init("9111 4.1", "absent from one", Case.matches("Accept", ["Accept: a"], []), "differ"),
        .init("9111 4.1", "empty is not absent", Case.matches("Accept", ["Accept:"], []), "differ"),
        .init("9111 4.1", "white space", Case.matches("Accept", ["Accept: a,  b"], ["Accept: a,b"]), "match"),
        .init(
            "9111 4.1",
            "combined lines",
            Case.matches("Accept", ["Accept: a", "Accept: b"], ["Accept: a, b"]),
            "match"
        ),
        .init("9111 4.1", "order matters", Case.matches("Accept", ["Accept: b, a"], ["Accept: a, b"]), "differ"),
        .init(
            "9111 4.1",
            "each of several fields",
            Case.matches("a, B", ["A: 1", "B: 2"], ["A: 1", "B: 3"]),
            "differ"
        ),
        .init(
            "9111 4.1",
            "other fields don't matter",
            Case.matches("A", ["A: 1", "B: 2"], ["A: 1", "B: 3"]),
            "match"
        ),
        .init(
            "9111 4.1",
            "a value is not taken for two",
            Case.matches("A, B", ["A: 1\nb=3:+2"], ["A: 1", "B: 2"]),
            "differ"
        ),
        .init("9111 4.1", "the order of names does not matter", Case.matches("B, a", ["A: 1"], ["A: 1"]), "match"),
    ]

    static let validation: [CacheStatement] = [
        .init("9111 4.3.1", "ETag", Case.conditions("ETag: W/\"a\""), "If-None-Match: W/\"a\""),
        .init(
            "9111 4.3.1",
            "Last-Modified",
            Case.conditions("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT"
        ),
        .init(
            "9111 4.3.1",
            "both",
            Case.conditions("ETag: \"a\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"),
            "If-None-Match: \"a\"; If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT"
        ),
        .init("9111 4.3.1", "none", Case.conditions(), ""),
        .init("9110 8.8.3", "an invalid tag is none", Case.conditions("ETag: a"), ""),
        .init("9110 8.8.2", "an invalid date is none", Case.conditions("Last-Modified: yesterday"), ""),
        .init("9111 4.3.4", "the same strong tag", Case.confirms(["ETag: \"a\""], ["ETag: \"a\""]), "confirmed"),
        .init("9111 4.3.4", "another tag", Case.confirms(["ETag: \"b\""], ["ETag: \"a\""]), "other"),
        .init("9111 4.3.4", "a weak tag", Case.confirms(["ETag: W/\"a\""], ["ETag: \"a\""]), "confirmed"),
        .init(
            "9111 4.3.4",
            "the same date",
            Case.confirms(
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"],
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "confirmed"
        ),
        .init(
            "9111 4.3.4",
            "another date",
            Case.confirms(
                ["Last-Modified: Tue, 30 Dec 2025 00:00:00 GMT"],
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "other"
        ),
        .init("9111 4.3.4", "a 304 without validators", Case.confirms([], ["ETag: \"a\""]), "confirmed"),
        .init(
            "9111 4.3.5",
            "HEAD with equal fields",
            Case.headConfirms(["ETag: \"a\"", "Content-Length: 5"], ["ETag: \"a\"", "Content-Length: 5"]),
            "confirmed"
        ),
        .init("9111 4.3.5", "HEAD without them", Case.headConfirms([], ["ETag: \"a\""]), "confirmed"),
        .init(
            "9111 4.3.5",
            "HEAD with another tag",
            Case.headConfirms(["ETag: \"b\""], ["ETag: \"a\""]),
            "invalidated"
        ),
        .init(
            "9111 4.3.5",
            "HEAD with another length",
            Case.headConfirms(["Content-Length: 6"], ["Content-Length: 5"]),
            "invalidated"
        ),
        .init("9111 4.3.5", "HEAD with another status", Case.headConfirms([], [], status: 404), "invalidated"),
    ]

    static let updates: [CacheStatement] = [
        .init("9111 3.2", "fields are replaced", Case.updated("X", ["X: 1", "X: 2"], by: ["X: 3"]), "3"),
        .init("9111 3.2", "others are kept", Case.updated("Y", ["Y: 1"], by: ["X: 3"]), "1"),
        .init("9111 3.2", "fields are added", Case.updated("X", [], by: ["X: 3", "X: 4"]), "3; 4"),
        .init(
            "9111 3.2",
            "Content-Length is kept",
            Case.updated("Content-Length", ["Content-Length: 5"], by: ["Content-Length: 0"]),
            "5"
        ),
        .init(
            "9111 3.2",
            "Content-Encoding is kept",
            Case.updated("Content-Encoding", ["Content-Encoding: gzip"], by: ["Content-Encoding: br"]),
            "gzip"
        ),
        .init(
            "9111 3.2",
            "Content-Type is kept",
            Case.updated("Content-Type", ["Content-Type: a/b"], by: ["Content-Type: c/d"]),
            "a/b"
        ),
        .init(
            "9111 3.2",
            "fields of the hop are not stored",
            Case.updated("Connection", [], by: ["Connection: close"]),
            ""
        ),
        .init("9111 4.2.3", "an earlier Age ends", Case.updated("Age", ["Age: 9"], by: []), ""),
        .init(
            "9110 6.6.1",
            "without a newer Date, the receipt counts",
            Case.updated("Date", ["Date: Thu, 01 Jan 2026 00:00:00 GMT"], by: ["No-Date"]),
            ""
        ),
        .init(
            "9110 6.6.1",
            "a newer Date counts",
            Case.updated(
                "Date",
                ["Date: Thu, 01 Jan 2026 00:00:00 GMT"],
                by: ["Date: Thu, 01 Jan 2026 00:01:40 GMT"]
            ),
            "Thu, 01 Jan 2026 00:01:40 GMT"
        ),
        .init("9111 4.2.3", "a newer Age counts", Case.updated("Age", ["Age: 9"], by: ["Age: 1"]), "1"),
        .init(
            "9111 4.3.4",
            "the lifetime is the newer one",
            Case.updated("Cache-Control", ["Cache-Control: max-age=1"], by: ["Cache-Control: max-age=9"]),
            "max-age=9"
        ),
    ]

    static let conditions: [CacheStatement] = [
        .init(
            "9111 4.3.2",
            "If-None-Match: the same",
            Case.conditional(["ETag: \"a\""], to: ["If-None-Match: \"a\""]),
            "304"
        ),
        .init(
            "9111 4.3.2",
            "If-None-Match: another",
            Case.conditional(["ETag: \"a\""], to: ["If-None-Match: \"b\""]),
            "200"
        ),
        .init(
            "9110 13.1.2",
            "weak comparison",
            Case.conditional(["ETag: W/\"a\""], to: ["If-None-Match: \"a\""]),
            "304"
        ),
        .init("9110 13.1.2", "a list", Case.conditional(["ETag: \"a\""], to: ["If-None-Match: \"b\", W/\"a\""]), "304"),
        .init(
            "9110 13.1.2",
            "a comma in a tag",
            Case.conditional(["ETag: \"a,b\""], to: ["If-None-Match: \"x\",\"a,b\""]),
            "304"
        ),
        .init("9110 13.1.2", "any", Case.conditional([], to: ["If-None-Match: *"]), "304"),
        .init("9110 13.1.2", "an invalid list", Case.conditional(["ETag: \"a\""], to: ["If-None-Match: a"]), "200"),
        .init(
            "9110 13.1.3",
            "If-Modified-Since: not modified",
            Case.conditional(
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"],
                to: ["If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "304"
        ),
        .init(
            "9110 13.1.3",
            "If-Modified-Since: modified",
            Case.conditional(
                ["Last-Modified: Wed, 31 Dec 2025 00:00:01 GMT"],
                to: ["If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "200"
        ),
        .init(
            "9110 13.1.3",
            "ignored with If-None-Match",
            Case.conditional(
                ["ETag: \"a\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"],
                to: ["If-None-Match: \"b\"", "If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "200"
        ),
        .init(
            "9110 13.1.3",
            "an invalid date is ignored",
            Case.conditional(["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"], to: ["If-Modified-Since: now"]),
            "200"
        ),
        .init(
            "9111 4.3.2",
            "without Last-Modified, by Date",
            Case.conditional([], to: ["If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"]),
            "304"
        ),
        .init(
            "9110 13.2.1",
            "conditions concern 200 only",
            Case.conditional(["ETag: \"a\""], to: ["If-None-Match: \"a\""], status: 404),
            "404"
        ),
    ]

    static let ranges: [CacheStatement] = [
        .init("9110 14.1.2", "from and to", Case.range(["Range: bytes=10-19"]), "10..<20"),
        .init("9110 14.1.2", "from", Case.range(["Range: bytes=10-"]), "10..<100"),
        .init("9110 14.1.2", "the last", Case.range(["Range: bytes=-10"]), "90..<100"),
        .init("9110 14.1.2", "more than there are", Case.range(["Range: bytes=90-999"]), "90..<100"),
        .init("9110 14.1.2", "the last, more than there are", Case.range(["Range: bytes=-999"]), "0..<100"),
        .init("9110 14.1.2", "the largest number", Case.range(["Range: bytes=1-9223372036854775807"]), "1..<100"),
        .init("9110 14.1.2", "too large a number", Case.range(["Range: bytes=1-9223372036854775808"]), "server"),
        .init("9110 14.1.2", "behind the end", Case.range(["Range: bytes=100-"]), "server"),
        .init("9110 14.1.2", "none of the last", Case.range(["Range: bytes=-0"]), "server"),
        .init("9110 14.1.2", "backwards", Case.range(["Range: bytes=9-1"]), "server"),
        .init("9110 14.1.2", "several", Case.range(["Range: bytes=1-2,4-5"]), "server"),
        .init("9110 14.2", "another unit", Case.range(["Range: lines=1-2"]), "server"),
        .init("9110 14.1", "units in any case", Case.range(["Range: Bytes=1-2"]), "1..<3"),
        .init("9110 14.2", "only for GET", Case.range(["Range: bytes=1-2"], method: "HEAD"), "whole"),
        .init("9110 14.2", "only for 200", Case.range(["Range: bytes=1-2"], status: 404), "whole"),
        .init(
            "9110 13.1.5",
            "If-Range: the same",
            Case.range(["Range: bytes=1-2", "If-Range: \"a\""], ["ETag: \"a\""]),
            "1..<3"
        ),
        .init(
            "9110 13.1.5",
            "If-Range: another",
            Case.range(["Range: bytes=1-2", "If-Range: \"b\""], ["ETag: \"a\""]),
            "whole"
        ),
        .init(
            "9110 13.1.5",
            "If-Range: weak",
            Case.range(["Range: bytes=1-2", "If-Range: W/\"a\""], ["ETag: W/\"a\""]),
            "whole"
        ),
        .init(
            "9110 13.1.5",
            "If-Range: a strong date",
            Case.range(
                ["Range: bytes=1-2", "If-Range: Wed, 31 Dec 2025 00:00:00 GMT"],
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "1..<3"
        ),
        .init(
            "9110 8.8.2.2",
            "If-Range: a weak date",
            Case.range(
                ["Range: bytes=1-2", "If-Range: Thu, 01 Jan 2026 00:00:00 GMT"],
                ["Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"]
            ),
            "whole"
        ),
        .init(
            "9110 13.1.5",
            "If-Range: an earlier date",
            Case.range(
                ["Range: bytes=1-2", "If-Range: Tue, 30 Dec 2025 00:00:00 GMT"],
                ["Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"]
            ),
            "whole"
        ),
    ]
}
