import SwiftASN1
import X509

/// The certificates that a server presented, its own first, as far as they can be read.
struct PresentedChain: Sendable {
    /// How many certificates of a chain are looked at.
    ///
    /// Real chains have two to four. What a hostile server can make the search for a path cost grows faster than the
    /// number of certificates that it may send.
    static let limit = 16

    /// The server's own; nil if it can't be read.
    let leaf: Certificate?
    /// Those sent along, of which nothing is proven.
    let others: [Certificate]
    /// All of them in DER, also those that can't be read.
    let encoded: [[UInt8]]

    init(_ encoded: [[UInt8]]) {
        self.encoded = encoded
        leaf = encoded.first.flatMap { try? Certificate(derEncoded: $0) }
        others = encoded.dropFirst().prefix(Self.limit - 1).compactMap { try? Certificate(derEncoded: $0) }
    }
}
