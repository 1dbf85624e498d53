/// A request to the event service, as its head says it.
package struct EventRequest: Hashable, Sendable {
    /// The resource that is requested.
    package enum Resource: Hashable, Sendable {
        /// The current state; with an event, the state after the next event.
        case state(after: EventID?, timeout: Duration)
        /// The events.
        case events(ReadStart, ReadMode)
        /// The path to a host.
        case path(host: String)
        /// The stored events of a period that ends now, or the availability in it.
        case history(since: Duration)
        /// The metrics.
        case metrics
        /// The live view as a page.
        case page(PageSpan)
    }

    /// The form of a response.
    package enum Form: Hashable, Sendable {
        /// One object or text.
        case single
        /// Server-sent events.
        case serverSentEvents
        /// JSON Lines.
        case lines
    }

    /// The resource that is requested.
    package let resource: Resource
    /// The form of the response.
    package let form: Form
    /// Whether the response has no body (`HEAD`).
    package let isHeadOnly: Bool
    /// The ids in `If-None-Match`, with their quotation marks.
    package let knownTags: [String]

    /// Returns whether the client has the state of an id already (RFC 9110, 13.1.2).
    package func knows(_ id: EventID) -> Bool {
        knownTags.contains { $0 == "*" || $0 == "\"\(id)\"" || $0 == "W/\"\(id)\"" }
    }

    /// The routes, for error messages.
    private static let routes = "/, /v1/state, /v1/events, /v1/paths/HOST, /v1/history and /metrics"

    /// The longest that a request may wait for another state.
    package static let maximumTimeout = Duration.seconds(600)

    /// The longest period of which the history is read.
    package static let maximumAge = Duration.seconds(366 * 86_400)

    /// Reads a request.
    ///
    /// - Throws: ``RequestRefusal``: 400, 404 or 405.
    package init(_ head: RequestHead) throws(RequestRefusal) {
        guard head.method == "GET" || head.method == "HEAD" else {
            throw .init(405, "the method is not GET or HEAD, which all routes take")
        }
        isHeadOnly = head.method == "HEAD"
        knownTags = head.list("if-none-match")
        let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = try Query(parts.count > 1 ? parts[1] : "")
        resource = try Self.resource(try decoded(parts[0], in: "path"), query, head)
        form = Self.form(of: resource, head)
    }

    private static func resource(
        _ path: String,
        _ query: Query,
        _ head: RequestHead
    ) throws(RequestRefusal) -> Resource {
        let hosts = "/v1/paths/"
        switch path {
        case "/v1/state":
            try query.check(["after", "timeout"])
            return .state(after: try query.id("after"), timeout: try query.duration("timeout") ?? .seconds(30))
        case "/v1/events":
            try query.check(["after", "mode"])
            return .events(try start(query, head), try query.mode("mode") ?? .all)
        case "/v1/history":
            try query.check(["since"])
            return .history(since: try query.age("since") ?? .seconds(7 * 86_400))
        case "/metrics":
            try query.check([])
            return .metrics
        case "/":
            try query.check(["span"])
            return .page(try query.span("span") ?? .hour)
        case _ where path.hasPrefix(hosts) && path.utf8.count > hosts.utf8.count:
            try query.check([])
            return .path(host: String(path.dropFirst(hosts.count)))
        default: throw .init(404, "there is no such route; the routes are \(routes)")
        }
    }

    /// A client that reconnects sends its first target again, so the field counts more than the query.
    ///
    /// An id in the field that cannot be read is treated as an unknown one: a client of server-sent events would give up
    /// for good at an error.
    private static func start(_ query: Query, _ head: RequestHead) throws(RequestRefusal) -> ReadStart {
        let asked = try query.id("after")
        if let last = head.values("last-event-id").last, !last.isEmpty { return .after(try? .init(parsing: last)) }
        return asked.map { .after($0) } ?? .now
    }

    private static func form(of resource: Resource, _ head: RequestHead) -> Form {
        let types = head.list("accept").map { $0.prefix { $0 != ";" && $0 != " " }.lowercased() }
        switch resource {
        case .state, .metrics, .page: return .single
        case .history: return types.contains("application/x-ndjson") ? .lines : .single
        case .events: return types.contains("application/x-ndjson") ? .lines : .serverSentEvents
        case .path:
            if types.contains("text/event-stream") { return .serverSentEvents }
            return types.contains("application/x-ndjson") ? .lines : .single
        }
    }
}

/// The parameters of a target.
private struct Query {
    private var values: [String: String] = [:]

    init(_ text: Substring) throws(RequestRefusal) {
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(parts[0], in: "query")
            guard values[name] == nil else { throw .init(400, "a parameter is given more than once; give it once") }
            values[name] = parts.count > 1 ? try decoded(parts[1], in: "query") : ""
        }
    }

    /// Refuses parameters that the route does not have.
    func check(_ known: Set<String>) throws(RequestRefusal) {
        guard !Set(values.keys).isSubset(of: known) else { return }
        let names = known.sorted().joined(separator: ", ")
        throw .init(400, known.isEmpty ? "this route has no parameters" : "the parameters of this route are \(names)")
    }

    func id(_ name: String) throws(RequestRefusal) -> EventID? {
        guard let text = values[name] else { return nil }
        do throws(EventIDError) { return try .init(parsing: text) } catch { throw .init(400, "\(name): \(error)") }
    }

    func mode(_ name: String) throws(RequestRefusal) -> ReadMode? {
        guard let text = values[name] else { return nil }
        guard let mode = ReadMode(rawValue: text) else {
            let names = ReadMode.allCases.map(\.rawValue).joined(separator: " or ")
            throw .init(400, "\(name): write \(names)")
        }
        return mode
    }

    func span(_ name: String) throws(RequestRefusal) -> PageSpan? {
        guard let text = values[name] else { return nil }
        guard let span = PageSpan(rawValue: text) else {
            let names = PageSpan.allCases.map(\.rawValue).joined(separator: ", ")
            throw .init(400, "\(name): write one of \(names)")
        }
        return span
    }

    /// A whole number of `ms`, `s` or `m`.
    func duration(_ name: String) throws(RequestRefusal) -> Duration? {
        let units: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000]
        guard let duration = try time(name, units, "500ms, 30s or 2m") else { return nil }
        guard duration <= EventRequest.maximumTimeout else { throw .init(400, "\(name): the longest is 10m") }
        return duration
    }

    /// A whole number of `m`, `h` or `d`.
    func age(_ name: String) throws(RequestRefusal) -> Duration? {
        let units: [Substring: Int64] = ["m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let age = try time(name, units, "90m, 12h or 7d") else { return nil }
        guard age <= EventRequest.maximumAge else { throw .init(400, "\(name): the longest is 366d") }
        return age
    }

    private func time(
        _ name: String,
        _ units: [Substring: Int64],
        _ examples: String
    ) throws(RequestRefusal) -> Duration? {
        guard let text = values[name] else { return nil }
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let unit = units[text[digits.endIndex...]], digits.count <= 9, let number = Int64(digits) else {
            throw .init(400, "\(name): write a whole number and a unit, such as \(examples)")
        }
        return .milliseconds(number * unit)
    }
}

/// Decodes a percent-encoded part of a target (RFC 3986, 2.1).
private func decoded(_ text: Substring, in part: String) throws(RequestRefusal) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard digits.utf8.count == 2, !digits.hasPrefix("+"), let value = UInt8(digits, radix: 16) else {
            throw .init(400, "a '%' in the \(part) is not followed by two hexadecimal digits")
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
    }
    guard let result = String(validating: bytes, as: UTF8.self) else {
        throw .init(400, "the \(part) is not UTF-8")
    }
    return result
}
