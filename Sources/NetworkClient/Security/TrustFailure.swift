import FoundationEssentials
import SwiftASN1
import X509

/// Describes what is wrong with a server's chain, so that its operator can fix it.
struct TrustFailure {
    let host: String
    let chain: PresentedChain

    /// The error for a server certificate that can't be parsed.
    var unreadable: HTTPError {
        HTTPError(
            .certificateUntrusted,
            processing: .neverSent,
            reason: "the certificate of \(host) can't be read: it is malformed, or its kind of key is not supported"
        )
    }

    /// Returns the error for the first path that was found and the policy that it fails, or for the lack of a path.
    func error(
        for leaf: Certificate,
        _ failure: CertificateValidationResult.PolicyFailure?,
        _ name: ServerName?
    ) -> HTTPError {
        guard let failure else {
            return HTTPError(.certificateUntrusted, processing: .neverSent, reason: untrustedReason(leaf))
        }
        if let error = dateError(in: Array(failure.chain)) { return error }
        let problem = IssuerPolicy.problem(in: failure.chain)
        if problem == nil, let name, let error = nameError(in: failure.chain, name) { return error }
        let reason = problem ?? failure.policyFailureReason.description.printable
        return HTTPError(
            .certificateUntrusted,
            processing: .neverSent,
            reason: "the chain of \(host) is not valid: \(reason)"
        )
    }

    /// Returns the error for the first certificate that has expired or is not valid yet.
    private func dateError(in path: [Certificate]) -> HTTPError? {
        let now = Date()
        for (index, certificate) in path.enumerated() {
            let subject = index == 0 ? "the certificate of \(host)" : "\(certificate.subjectText), above \(host),"
            if now > certificate.notValidAfter {
                let reason = "\(subject) has expired on \(certificate.notValidAfter.text); it is now \(now.text)"
                return HTTPError(.certificateExpired, processing: .neverSent, reason: reason)
            }
            if now < certificate.notValidBefore {
                let date = certificate.notValidBefore.text
                let reason = "\(subject) is not valid before \(date); it is now \(now.text): is the clock right?"
                return HTTPError(.certificateNotYetValid, processing: .neverSent, reason: reason)
            }
        }
        return nil
    }

    private func nameError(in path: UnverifiedCertificateChain, _ name: ServerName) -> HTTPError? {
        guard !ServerNamePolicy(name).matches(path.leaf) else { return nil }
        let names = path.leaf.namesText
        let actual =
            names.isEmpty
            ? "has no subjectAltName, and a common name does not count (RFC 9525): issue it for the host's name"
            : "is not for \(host), but for \(names)"
        return HTTPError(.certificateHostMismatch, processing: .neverSent, reason: "the certificate \(actual)")
    }

    /// Returns the reason why no path leads to an anchor.
    private func untrustedReason(_ leaf: Certificate) -> String {
        let last = linked(from: leaf).last ?? leaf
        let certificate = "the certificate of \(host)"
        if leaf.isSelfSigned {
            return "\(certificate) is self-signed, and not trusted itself: add it to the roots, or pin it"
        }
        if last.isSelfSigned {
            return "\(certificate) leads to \(last.subjectText), which is not trusted: add it to the roots"
        }
        let issuer = last.issuer.text
        let problem = "\(certificate) leads to no trusted root: \(issuer), which issued \(last.subjectText), is neither"
        return problem + " trusted nor sent by the server: add the root, or have the server send its intermediates"
    }

    /// Returns the certificates above the server's own that it presented, as far as signatures link them.
    private func linked(from leaf: Certificate) -> [Certificate] {
        var path = [leaf]
        while let tip = path.last, !tip.isSelfIssued, path.count < PresentedChain.limit {
            let issuer = chain.others.first { other in
                other.subject == tip.issuer && !path.contains(other)
                    && other.publicKey.isValidSignature(tip.signature, for: tip)
            }
            guard let issuer else { break }
            path.append(issuer)
        }
        return path
    }
}

extension TrustFailure {
    /// Returns the error for a chain without any of the pins; the reason lists the keys of the chain.
    func pinMismatch(in path: [Certificate]?) -> HTTPError {
        let certificates = path ?? ([chain.leaf].compactMap { $0 } + chain.others)
        let pins = certificates.compactMap { certificate in
            certificate.keyHash.map { "\(Pin.text(ofHash: $0)) (\(certificate.subjectText))" }
        }
        let origin = path == nil ? "presented, not proven" : "validated"
        let reason = "none of the pins is in the chain of \(host); that chain has (\(origin)): "
        return HTTPError(.pinMismatch, processing: .neverSent, reason: reason + pins.joined(separator: ", "))
    }
}

extension Certificate {
    /// The certificate in DER; empty if it can't be encoded, which does not happen for a parsed certificate.
    var encoded: [UInt8] {
        var serializer = DER.Serializer()
        do { try serializer.serialize(self) } catch { return [] }
        return serializer.serializedBytes
    }

    /// The hash of its public key, as used for pinning.
    var keyHash: [UInt8]? { PublicKeyInfo.hash(ofCertificate: encoded) }

    /// Whether its issuer is its subject.
    var isSelfIssued: Bool { issuer == subject }

    /// Whether it is signed with its own key.
    var isSelfSigned: Bool { isSelfIssued && publicKey.isValidSignature(signature, for: self) }

    /// The subject, for messages.
    var subjectText: String { subject.isEmpty ? "the certificate without a subject" : subject.text }

    /// The names and addresses of the certificate's subjectAltName, for messages; empty if it has none.
    var namesText: String {
        let names = (try? extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        let texts = names.prefix(8).map(\.text)
        return texts.joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
    }
}

extension DistinguishedName {
    /// The name, for messages, without characters that affect a terminal or a log.
    var text: String { description.printable }
}

extension GeneralName {
    /// A host name or an address, for messages.
    var text: String {
        switch self {
        case .dnsName(let name): name.printable
        case .ipAddress(let octets): ServerName.text(ofAddress: octets.bytes)
        default: String(describing: self).printable
        }
    }
}

extension String {
    /// The text on one line and of limited length, without characters that affect a terminal or a log.
    var printable: String { printable(upTo: 160) }

    /// The text on one line and with a maximum number of characters, without those that affect a terminal or a log.
    func printable(upTo limit: Int) -> String {
        let safe = unicodeScalars.prefix(limit).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator ? "?" : Character(scalar)
        }
        return String(safe) + (unicodeScalars.count > limit ? "..." : "")
    }
}

extension Date {
    /// The date in UTC, as in `2026-11-21T09:00:00Z`.
    var text: String { ISO8601Format() }
}
