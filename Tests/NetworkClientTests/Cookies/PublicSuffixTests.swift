import Testing

@testable import NetworkClient

/// Public suffixes, held against the list itself.
struct PublicSuffixTests {
    /// The rules of the list, in UTF-8; Debian's package publicsuffix.
    private func rules() throws -> [String] {
        let bytes = try FileBytes.read("/usr/share/publicsuffix/public_suffix_list.dat")
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return lines.filter { !$0.hasPrefix("//") && !$0.contains(" ") }
    }

    @Test func `each rule of the list holds, in both forms of its name`() throws {
        let rules = try rules()
        #expect(rules.count > 5_000)
        let exceptions = Set(rules.filter { $0.hasPrefix("!") })
        for rule in rules {
            let domain = rule.hasPrefix("!") || rule.hasPrefix("*.") ? String(rule.drop { "!*.".contains($0) }) : rule
            let ascii = try HTTPURL("https://\(domain)/").host
            switch rule.first {
            case "!":
                #expect(!PublicSuffixList.contains(ascii) && PublicSuffixList.site(of: "x.\(ascii)") == ascii)
            case "*":
                let label = exceptions.contains("!any-label.\(domain)") ? "other-label" : "any-label"
                #expect(PublicSuffixList.contains("\(label).\(ascii)"), "\(rule)")
                #expect(PublicSuffixList.site(of: "a.b.\(label).\(ascii)") == "b.\(label).\(ascii)")
            default:
                #expect(PublicSuffixList.contains(ascii), "\(rule)")
                #expect(PublicSuffixList.contains(domain), "\(rule)")
            }
        }
    }

    @Test(arguments: [
        ("com", true), ("example.com", false), ("co.uk", true), ("uk", true), ("bbc.co.uk", false), ("github.io", true),
        ("netwatch.github.io", false), ("localhost", true), ("a.localhost", false), ("unknown-suffix", true),
        ("example.unknown-suffix", false), ("ck", true), ("x.ck", true), ("www.ck", false), ("city.kawasaki.jp", false),
        ("kawasaki.jp", true), ("any.kawasaki.jp", true), ("xn--85x722f.com.cn", false), ("xn--55qx5d.cn", true),
    ])
    func `the rules of the list's own examples hold`(domain: String, isSuffix: Bool) {
        #expect(PublicSuffixList.contains(domain) == isSuffix)
    }

    @Test(arguments: [
        ("www.example.com", "example.com"), ("example.com", "example.com"), ("com", "com"), ("a.b.co.uk", "b.co.uk"),
        ("127.0.0.1", "127.0.0.1"), ("2001:db8::1", "2001:db8::1"), ("localhost", "localhost"),
        ("a.localhost", "a.localhost"),
    ])
    func `a site is the registrable domain`(host: String, site: String) {
        #expect(PublicSuffixList.site(of: host) == site)
    }
}
