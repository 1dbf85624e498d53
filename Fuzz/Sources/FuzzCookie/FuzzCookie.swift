import FuzzSupport
import NetworkClientCore

/// Any text as `Set-Cookie` fields, a line each, from a few URLs, and as a file of cookies.
///
/// No limit is exceeded, no host gets another's cookies, what is sent is a field's value, and a file is read as it was written.
@main
enum FuzzCookie {
    static func main() {
        Fuzzer.run { start, count in
            FuzzCookie.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static let now: Int64 = 1_767_225_600
    private static let origins = [
        CookieOrigin(host: "www.example.com", target: "/a/b?c", isSecure: true),
        CookieOrigin(host: "example.com", target: "/", isSecure: false),
        CookieOrigin(host: "bank.com", target: "/a", isSecure: true),
        CookieOrigin(host: "127.0.0.1", target: "/", isSecure: false),
        CookieOrigin(host: "2001:db8::1", target: "/a/b/", isSecure: true),
    ]

    private static func run(_ input: [UInt8]) {
        if let read = try? CookieFile.cookies(input) { checkFile(of: read) }
        var table = CookieTable(limits: .init(perDomain: 3, total: 7))
        for (index, line) in InputText.lines(input).enumerated() {
            let origin = origins[index % origins.count]
            table.receive(line, from: origin, now: now) { !$0.contains(".") }
            Fuzzer.expect(table.count <= 7, "there are \(table.count) cookies")
        }
        let cookies = table.cookies(now: now)
        Fuzzer.expect(cookies.count <= table.count, "more cookies are listed than there are")
        for group in Dictionary(grouping: cookies, by: \.domain) {
            Fuzzer.expect(group.value.count <= 3, "'\(group.key)' has \(group.value.count) cookies")
        }
        cookies.forEach(check)
        for origin in origins { check(table.cookies(for: origin, now: now), of: origin) }
        checkFile(of: cookies)
    }

    private static func check(_ cookie: Cookie) {
        Fuzzer.expect(cookie.flaw == nil || cookie.name.isEmpty, "a cookie was accepted though \(cookie.flaw ?? "")")
        Fuzzer.expect(cookie.domain.contains(".") || cookie.domain.contains(":"), "'\(cookie.domain)' is a suffix")
        Fuzzer.expect(cookie.expires.map { $0 > now && $0 <= now + SetCookie.maximumAge } ?? true, "it expires wrongly")
    }

    private static func check(_ cookies: [Cookie], of origin: CookieOrigin) {
        for cookie in cookies {
            let isOwn = cookie.isHostOnly ? cookie.domain == origin.host : origin.host.hasSuffix(cookie.domain)
            Fuzzer.expect(isOwn && origin.path.hasPrefix(cookie.path), "'\(origin.host)' gets '\(cookie.domain)'")
            Fuzzer.expect(origin.isSecure || !cookie.isSecure, "a cookie is sent without TLS")
        }
        let lengths = cookies.map(\.path.utf8.count)
        Fuzzer.expect(lengths == lengths.sorted(by: >), "the paths have the lengths \(lengths)")
        guard let value = CookieField.value(cookies) else { return }
        let isField = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        Fuzzer.expect(isField, "'\(value)' is no field's value")
    }

    private static func checkFile(of cookies: [Cookie]) {
        let text = CookieFile.text(cookies)
        guard let read = try? CookieFile.cookies(Array(text.utf8)) else {
            return Fuzzer.expect(false, "'\(text)' can't be read")
        }
        Fuzzer.expect(CookieFile.text(read) == text, "'\(text)' is read as others")
    }
}
