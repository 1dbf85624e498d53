@testable import NetworkClientCore

/// A statement of a standard that concerns a private cache, a case of it, and the result.
struct CacheStatement: Sendable, CustomStringConvertible {
    let section: String
    let statement: String
    let actual: String
    let expected: String

    init(_ section: String, _ statement: String, _ actual: String, _ expected: String) {
        (self.section, self.statement, self.actual, self.expected) = (section, statement, actual, expected)
    }

    var description: String { "\(section): \(statement)" }
}

/// The cases of the statements, in words.
enum CacheCase {
    /// Thu, 01 Jan 2026 00:00:00 GMT, when all responses were received.
    static let now: Int64 = 1_767_225_600
    static let date = "Date: Thu, 01 Jan 2026 00:00:00 GMT"

    static func fields(_ lines: [String]) -> CachedFields {
        .init(
            lines.map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                return .init(String(line[..<colon]), line[colon...].dropFirst().trimmingBlanks)
            }
        )
    }

    static func request(_ lines: [String], method: String = "GET") -> CacheRequest {
        .init(method: method, fields: fields(lines))
    }

    static func response(_ lines: [String], status: Int = 200, took: Int64 = 0) -> CachedResponse {
        let hasDate = lines.contains { $0.hasPrefix("Date:") }
        return .init(
            status: status,
            reason: "",
            fields: fields(lines.filter { $0 != "No-Date" } + (hasDate || lines.contains("No-Date") ? [] : [date])),
            requestTime: now - took,
            responseTime: now
        )
    }

    /// Whether a response is stored, or the reason why it is not.
    static func stored(_ lines: String..., to: [String] = [], method: String = "GET", status: Int = 200) -> String {
        let refusal = StoringRules.refusal(of: response(lines, status: status), to: request(to, method: method))
        return refusal.map { "\($0)" } ?? "stored"
    }

    /// What a request gets some seconds after the response.
    static func used(
        _ lines: String...,
        after seconds: Int64 = 0,
        to: [String] = [],
        method: String = "GET",
        status: Int = 200,
        mode: CacheMode = .standard
    ) -> String {
        let (request, response) = (request(to, method: method), response(lines, status: status))
        return "\(ReuseRules.decision(for: request, response, mode, now: now + seconds))"
    }

    /// What a request gets if nothing is stored.
    static func unused(_ to: String..., mode: CacheMode = .standard) -> String {
        "\(ReuseRules.decision(for: request(to), nil, mode, now: now))"
    }

    /// Whether a response replaces an error some seconds after it was received.
    static func replaces(
        _ lines: String...,
        after seconds: Int64,
        to: [String] = [],
        mode: CacheMode = .standard
    ) -> String {
        let may = ReuseRules.mayReplaceFailure(response(lines), of: request(to), mode, now: now + seconds)
        return may ? "stale response" : "error"
    }

    static func age(_ lines: String..., after seconds: Int64 = 0, took: Int64 = 0) -> String {
        "\(response(lines, took: took).age(at: now + seconds))"
    }

    static func lifetime(_ lines: String..., status: Int = 200) -> String {
        let lifetime = response(lines, status: status).lifetime
        return "\(lifetime.seconds)\(lifetime.isHeuristic ? " estimated" : "")"
    }

    /// Whether two requests with these fields get the same response with a `Vary`.
    static func matches(_ vary: String, _ first: [String], _ second: [String]) -> String {
        let names = VaryRules.names(of: response(["Vary: \(vary)"]))
        return VaryRules.key(names, of: fields(first)) == VaryRules.key(names, of: fields(second)) ? "match" : "differ"
    }

    /// The conditions of a validation.
    static func conditions(_ lines: String...) -> String {
        ValidationRules.conditions(for: response(lines)).map { "\($0.name): \($0.value)" }.joined(separator: "; ")
    }

    /// Whether a 304 confirms a response.
    static func confirms(_ newer: [String], _ stored: [String]) -> String {
        ValidationRules.confirms(response(newer, status: 304), response(stored)) ? "confirmed" : "other"
    }

    /// Whether a response to HEAD confirms a response to GET.
    static func headConfirms(_ newer: [String], _ stored: [String], status: Int = 200) -> String {
        ValidationRules.confirms(head: response(newer, status: status), response(stored)) ? "confirmed" : "invalidated"
    }

    /// The value of a field after a 304.
    static func updated(_ name: String, _ stored: [String], by newer: [String]) -> String {
        ValidationRules.updated(response(stored), by: response(newer, status: 304)).fields.values(of: name)
            .joined(separator: "; ")
    }

    /// The status with which a cache responds to a condition of the client.
    static func conditional(_ lines: [String], to: [String], status: Int = 200) -> String {
        ValidationRules.isNotModified(response(lines, status: status), for: request(to)) ? "304" : "\(status)"
    }

    /// The bytes of a stored response of 100 bytes that a request gets.
    static func range(_ to: [String], _ lines: [String] = [], method: String = "GET", status: Int = 200) -> String {
        let range = CachedRange(of: request(to, method: method), response(lines, status: status), length: 100)
        return switch range {
        case .whole: "whole"
        case .part(let bytes): "\(bytes)"
        case .unsatisfied: "server"
        }
    }

    /// The names of the fields that are stored.
    static func storable(_ lines: String...) -> String {
        fields(lines).storable.all.map(\.name).joined(separator: " ")
    }

    /// Whether a request may be satisfied by a cache at all.
    static func mayUse(_ to: String..., method: String = "GET") -> String {
        request(to, method: method).mayUseStored ? "cache" : "server"
    }
}
