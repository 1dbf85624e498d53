import HTTPLab

@testable import NetworkClient

extension TLSOptions {
    /// Options that trust only this authority.
    static func trusting(_ authority: CertificateAuthority, _ policy: SecurityPolicy = .standard) throws -> TLSOptions {
        TLSOptions(policy: policy, roots: try .only(authority.root.der))
    }
}

extension Pin {
    /// The pin of a whole certificate.
    static func certificate(_ minted: MintedCertificate) throws -> Pin { try Pin(der: minted.der) }

    /// The pin of a certificate's key.
    static func key(_ minted: MintedCertificate) throws -> Pin { try Pin(minted.pin) }
}
