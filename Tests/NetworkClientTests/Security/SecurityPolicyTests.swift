import HTTPLab
import Testing

@testable import NetworkClient

/// The policies that a session rejects.
struct SecurityPolicyTests {
    private let pin: Pin
    private let key: Pin

    init() throws {
        let minted = try MintedCertificate(.init("localhost"))
        pin = try .certificate(minted)
        key = try .key(minted)
    }

    private func reason(_ policy: SecurityPolicy) -> String? {
        let error = #expect(throws: HTTPError.self) { try TLSClient(TLSOptions(policy: policy)) }
        #expect(error?.code == .invalidConfiguration)
        return error?.reason
    }

    @Test(arguments: SecurityPolicy.Mode.allCases)
    func `invalid certificates with a validated name need a pin`(mode: SecurityPolicy.Mode) throws {
        let policy = SecurityPolicy(mode: mode, allowsInvalidCertificates: true)
        #expect(reason(policy)?.contains("which nothing proves without pins") == true)
    }

    @Test func `pins in mode none make up for nothing`() {
        let policy = SecurityPolicy(pins: [pin], allowsInvalidCertificates: true)
        #expect(reason(policy)?.contains("which nothing proves without pins") == true)
    }

    @Test(arguments: [SecurityPolicy.Mode.certificate, .publicKey])
    func `a mode that pins needs pins`(mode: SecurityPolicy.Mode) {
        let strict = reason(SecurityPolicy(mode: mode))
        #expect(strict?.hasPrefix("the security policy has mode \(mode) and no pins") == true)
        let loose = SecurityPolicy(mode: mode, allowsInvalidCertificates: true, validatesDomainName: false)
        #expect(reason(loose)?.contains("no pins") == true)
    }

    @Test func `the hash of a key is no certificate`() {
        let policy = SecurityPolicy(mode: .certificate, pins: [pin, key])
        #expect(reason(policy)?.contains("a pin that is only the hash of a key") == true)
    }

    @Test func `the error names the host whose policy it is`() {
        let options = TLSOptions(policiesByHost: ["*.example.com": SecurityPolicy(mode: .publicKey)])
        let error = #expect(throws: HTTPError.self) { try TLSClient(options) }
        #expect(error?.reason.hasPrefix("the security policy for *.example.com has mode publicKey") == true)
    }

    @Test func `consistent policies are accepted`() throws {
        for policy in [
            .standard, .insecure, SecurityPolicy(pins: [pin, key]), SecurityPolicy(mode: .certificate, pins: [pin]),
            SecurityPolicy(mode: .publicKey, pins: [pin, key], allowsInvalidCertificates: true),
        ] { _ = try TLSClient(TLSOptions(policy: policy)) }
    }

    @Test func `a policy with pins requires an https base URL`() throws {
        let policy = SecurityPolicy(mode: .publicKey, pins: [key])
        try policy.check(scheme: "https", of: "the base URL")
        try policy.check(scheme: "HTTPS", of: "the base URL")
        try policy.check(scheme: nil, of: "the base URL")
        try SecurityPolicy(pins: [key]).check(scheme: "http", of: "the base URL")
        let error = #expect(throws: HTTPError.self) { try policy.check(scheme: "http", of: "the base URL") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.contains("the base URL is http") == true)
    }
}
