import ReachabilityCore
import SwiftASN1
import X509

/// Checks that the server's certificate is for the host that was asked for (RFC 9525).
///
/// Only the subjectAltName counts, never the common name: an authority's name constraints do not apply to that. A
/// wildcard is the whole leftmost label, and stands for exactly one label.
struct ServerNamePolicy: VerifierPolicy, Sendable {
    private let name: ServerName

    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [.X509ExtensionID.subjectAlternativeName]

    init(_ name: ServerName) { self.name = name }

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        guard matches(chain.leaf) else {
            return .failsToMeetPolicy(reason: "the certificate is not for \(name.text)")
        }
        guard let host = name.hostName else { return .meetsPolicy }
        for issuer in chain.dropFirst() {
            guard let problem = Self.problem(with: host, under: issuer) else { continue }
            return .failsToMeetPolicy(reason: "\(issuer.subjectText) \(problem)")
        }
        return .meetsPolicy
    }

    /// Returns whether a certificate's subjectAltName has the host.
    func matches(_ certificate: Certificate) -> Bool {
        let names = (try? certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        return names.contains { presented in
            switch presented {
            case .dnsName(let pattern): name.hostName.map { Self.matches($0, pattern) } ?? false
            case .ipAddress(let octets): name.address == ServerName.text(ofAddress: octets.bytes)
            default: false
            }
        }
    }

    // MARK: Names

    /// Returns whether a host, in lower case, is one that a certificate's name stands for.
    private static func matches(_ host: String, _ pattern: String) -> Bool {
        let patternLabels = labels(pattern)
        let hostLabels = labels(host)
        guard patternLabels.count == hostLabels.count, hostLabels.allSatisfy(isLabel) else { return false }
        // A name's only label can't be a wildcard.
        guard patternLabels.first == "*", patternLabels.count > 1 else { return patternLabels == hostLabels }
        return patternLabels.dropFirst() == hostLabels.dropFirst()
    }

    private static func labels(_ name: String) -> [Substring] {
        name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let isAllowed: (UInt8) -> Bool = { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return !label.isEmpty && label.utf8.allSatisfy(isAllowed)
    }

    // MARK: Name constraints

    /// Returns why an authority's name constraints forbid a host, or nil if they do not.
    ///
    /// RFC 5280 holds them against the names in the certificate. A wildcard, which stands for names both inside and
    /// outside an excluded subtree, would escape them: so they are held against the host as well.
    private static func problem(with host: String, under issuer: Certificate) -> String? {
        guard let constraints = try? issuer.extensions.nameConstraints else { return nil }
        if constraints.excludedDNSDomains.contains(where: { isWithin(host, $0) }) {
            return "excludes \(host) by its name constraints"
        }
        let permitted = constraints.permittedDNSDomains
        if permitted.isEmpty || permitted.contains(where: { isWithin(host, $0) }) { return nil }
        return "does not permit \(host) by its name constraints"
    }

    /// Returns whether a host is in a subtree (RFC 5280, 4.2.1.10): the name itself or one with more labels before it.
    ///
    /// With a dot before it, the name itself is not in it; an empty name has all hosts.
    private static func isWithin(_ host: String, _ subtree: String) -> Bool {
        var subtree = subtree.lowercased()
        if subtree.hasSuffix(".") { subtree.removeLast() }
        if subtree.isEmpty { return true }
        if subtree.hasPrefix(".") { return host.hasSuffix(subtree) }
        return host == subtree || host.hasSuffix("." + subtree)
    }
}

/// Who a certificate has to be for: a host's name, or an address.
struct ServerName: Sendable, Hashable {
    /// The name in small letters, without the dot that ends an absolute one; nil for an address.
    var hostName: String?
    /// The address without its zone; nil for a name.
    var address: String?

    /// Takes what a URL has for a host: brackets, a zone and a last dot say nothing about who that is.
    init(_ host: String) {
        var text = host[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%"), let parsed = IPAddress(String(text[..<zone])) {
            address = parsed.description
        } else if let parsed = IPAddress(String(text)) {
            address = parsed.description
        } else {
            hostName = String(text.hasSuffix(".") ? text.dropLast() : text).lowercased()
        }
    }

    /// The name or the address.
    var text: String { hostName ?? address ?? "" }
}

extension ServerName {
    /// An address as a certificate holds it, for people.
    static func text(ofAddress octets: ArraySlice<UInt8>) -> String {
        let bits = octets.reduce(into: UInt128(0)) { $0 = $0 << 8 | UInt128($1) }
        switch octets.count {
        case 4: return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits)).description
        case 16: return IPAddress(family: .ipv6, bits: bits).description
        default: return "an address of \(octets.count) bytes"
        }
    }
}
