import NetworkClient
import ReachabilityCore
import SwiftASN1
import X509

extension TLSOptions {
    /// Returns the options for a server that is reached by a translator, under another address than its own.
    ///
    /// Its certificate must be for its own address, and satisfy the policy otherwise.
    ///
    /// - Parameter own: The server's own address.
    /// - Returns: The options.
    func forTranslated(_ own: IPAddress) -> Self {
        var options = self
        var policy = policiesByHost["\(own)"] ?? policy
        policy.validatesDomainName = false
        (options.policy, options.policiesByHost) = (policy, [:])
        options.challengeHandler = { challenge in
            guard challenge.policyRefusal == nil else { return .usePolicy }
            return Self.isCertified(own, by: challenge.presentedChain) ? .usePolicy : .refuse(ForeignAddress(own: own))
        }
        return options
    }

    private static func isCertified(_ address: IPAddress, by chain: [[UInt8]]) -> Bool {
        guard let first = chain.first, let certificate = try? Certificate(derEncoded: first) else { return false }
        let names = (try? certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: address.ipv4Value >> UInt32(24 - 8 * $0)) }
        return names.contains {
            if case .ipAddress(let bytes) = $0 { bytes.bytes.elementsEqual(octets) } else { false }
        }
    }
}

/// The error of a certificate that is not for the server's own address.
private struct ForeignAddress: Error, CustomStringConvertible {
    let own: IPAddress

    var description: String { "the certificate is not for \(own)" }
}
