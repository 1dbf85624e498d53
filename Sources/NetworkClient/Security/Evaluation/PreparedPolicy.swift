import SwiftASN1
import X509

/// A policy whose pins are read, so that no handshake has to read them again.
struct PreparedPolicy: Sendable {
    let policy: SecurityPolicy
    /// The pinned certificates.
    let certificates: [Certificate]
    /// The hashes of all pinned keys, those of the pinned certificates among them.
    let keyHashes: Set<[UInt8]>

    init(_ policy: SecurityPolicy, of source: String) throws(HTTPError) {
        try policy.check(of: source)
        self.policy = policy
        certificates = policy.pins.compactMap { pin in pin.certificate.flatMap { try? Certificate(derEncoded: $0) } }
        keyHashes = Set(policy.pins.map(\.keyHash))
    }
}
