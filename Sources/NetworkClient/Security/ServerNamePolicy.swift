import ReachabilityCore
import SwiftASN1
import X509

/// Checks that the server's certificate is for the requested host (RFC 9525).
///
/// Only the subjectAltName is used, never the common name, to which a CA's name constraints do not apply. A wildcard
/// must be the whole leftmost label, and matches exactly one label.
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

    /// Returns whether a certificate's subjectAltName contains the host.
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

    /// Returns whether a host in lower case matches a name in a certificate.
    private static func matches(_ host: String, _ pattern: String) -> Bool {
        let patternLabels = labels(pattern)
        let hostLabels = labels(host)
        guard patternLabels.count == hostLabels.count, hostLabels.allSatisfy(isLabel) else { return false }
        // The only label of a name can't be a wildcard.
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

    /// Returns why a CA's name constraints forbid a host, or nil if they do not.
    ///
    /// RFC 5280 applies them to the names in the certificate. A wildcard, which matches names both inside and outside
    /// an excluded subtree, would bypass them: so they are applied to the host as well.
    private static func problem(with host: String, under issuer: Certificate) -> String? {
        guard let constraints = try? issuer.extensions.nameConstraints else { return nil }
        if constraints.excludedDNSDomains.contains(where: { isWithin(host, $0) }) {
            return "excludes \(host) by its name constraints"
        }
        let permitted = constraints.permittedDNSDomains
        if permitted.isEmpty || permitted.contains(where: { isWithin(host, $0) }) { return nil }
        return "does not permit \(host) by its name constraints"
    }

    /// Returns whether a host is in a subtree (RFC 5280, 4.2.1.10): the name itself, or one with additional labels on
    /// the left.
    ///
    /// If the subtree begins with a dot, the name itself is not included; an empty subtree contains all hosts.
    private static func isWithin(_ host: String, _ subtree: String) -> Bool {
        var subtree = subtree.lowercased()
        if subtree.hasSuffix(".") { subtree.removeLast() }
        if subtree.isEmpty { return true }
        if subtree.hasPrefix(".") { return host.hasSuffix(subtree) }
        return host == subtree || host.hasSuffix("." + subtree)
    }
}

/// The name or address that a certificate must be issued for.
struct ServerName: Sendable, Hashable {
    /// The name in lower case, without a trailing dot; nil for an address.
    var hostName: String?
    /// The address without its zone; nil for a name.
    var address: String?

    /// Makes the name of a URL's host: brackets, a zone and a trailing dot are not part of the identity.
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
    /// Returns the text form of an address as certificates encode it.
    static func text(ofAddress octets: ArraySlice<UInt8>) -> String {
        let bits = octets.reduce(into: UInt128(0)) { $0 = $0 << 8 | UInt128($1) }
        switch octets.count {
        case 4: return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits)).description
        case 16: return IPAddress(family: .ipv6, bits: bits).description
        default: return "an address of \(octets.count) bytes"
        }
    }
}
