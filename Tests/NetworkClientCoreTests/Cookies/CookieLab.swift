import NetworkClientCore

/// A table of cookies with a clock and a few public suffixes of its own.
final class CookieLab {
    var table: CookieTable
    /// 2026-01-01 00:00:00 UTC.
    var now: Int64 = 1_767_225_600

    init(limits: CookieTable.Limits = .init()) { table = .init(limits: limits) }

    static func isPublicSuffix(_ domain: String) -> Bool {
        !domain.contains(".") || ["co.uk", "github.io", "xn--55qx5d.cn"].contains(domain)
    }

    static func origin(_ url: String) -> CookieOrigin {
        let parts = url.split(separator: "://", maxSplits: 1)
        let rest = parts[1]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let host = rest[..<slash].drop { $0 == "[" }.prefix { $0 != "]" }
        let target = slash == rest.endIndex ? "/" : String(rest[slash...])
        return .init(host: String(host), target: target, isSecure: ["https", "wss"].contains(parts[0]))
    }

    @discardableResult
    func receive(_ field: String, _ url: String = "http://www.example.com/a/b") -> Bool {
        table.receive(field, from: Self.origin(url), now: now, isPublicSuffix: Self.isPublicSuffix)
    }

    /// The `Cookie` field of a request; empty for none.
    func field(_ url: String = "http://www.example.com/a/b", _ site: CookieSite = .same) -> String {
        CookieField.value(table.cookies(for: Self.origin(url), site, now: now)) ?? ""
    }
}
