import Testing

@testable import NetworkClient

struct HostPoliciesTests {
    private static let exact = SecurityPolicy(validatesDomainName: false)
    private static let wildcard = SecurityPolicy.insecure

    private func policy(for host: String) throws -> SecurityPolicy {
        let options = TLSOptions(policiesByHost: [
            "api.Example.com": Self.exact, "*.example.com": Self.wildcard, "[2001:DB8::1]": Self.exact,
        ])
        return try HostPolicies(options).policy(for: ServerName(host)).policy
    }

    @Test(arguments: ["api.example.com", "API.example.COM.", "2001:db8:0::1", "[2001:db8::1]"])
    func `an exact host's policy takes precedence`(host: String) throws { #expect(try policy(for: host) == Self.exact) }

    @Test(arguments: ["www.example.com", "xn--bcher-kva.example.com"])
    func `a wildcard covers one label`(host: String) throws { #expect(try policy(for: host) == Self.wildcard) }

    @Test(arguments: ["example.com", "a.b.example.com", "example.org", "2001:db8::2", "localhost"])
    func `all other hosts have the policy for all`(host: String) throws { #expect(try policy(for: host) == .standard) }

    @Test(arguments: ["", "*", "*.", "*.*.com", "a*.example.com", "b\u{fc}cher.example", "*.192.0.2.1", "a b"])
    func `a pattern that can match nothing is refused`(pattern: String) throws {
        let options = TLSOptions(policiesByHost: [pattern: .standard])
        let error = #expect(throws: HTTPError.self) { try HostPolicies(options) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.hasPrefix("\"\(pattern)\" names no host") == true)
    }
}
