import HTTPLab
import Testing

@testable import NetworkClient

/// Every mode with every pair of flags, against servers of every kind, in the documented order.
@Suite(.timeLimit(.minutes(10)))
struct PolicyMatrixTests {
    /// The fault of a server.
    enum Fault: CaseIterable {
        case nothing
        case wrongHost
        case untrusted
        case expired
    }

    /// A policy, and the error for each server; nil if it is accepted.
    struct Row: Sendable, CustomTestStringConvertible {
        let mode: SecurityPolicy.Mode
        let allowsInvalid: Bool
        let validatesName: Bool
        let refusals: [Fault: HTTPError.Code]

        var testDescription: String { "\(mode), invalid \(allowsInvalid), name \(validatesName)" }
    }

    static let rows = [
        Row(
            mode: .none,
            allowsInvalid: false,
            validatesName: true,
            refusals: [
                .wrongHost: .certificateHostMismatch, .untrusted: .certificateUntrusted, .expired: .certificateExpired,
            ]
        ),
        Row(
            mode: .none,
            allowsInvalid: false,
            validatesName: false,
            refusals: [.untrusted: .certificateUntrusted, .expired: .certificateExpired]
        ),
        Row(mode: .none, allowsInvalid: true, validatesName: false, refusals: [:]),
        Row(
            mode: .certificate,
            allowsInvalid: false,
            validatesName: true,
            refusals: [
                .wrongHost: .certificateHostMismatch, .untrusted: .certificateUntrusted, .expired: .certificateExpired,
            ]
        ),
        Row(
            mode: .certificate,
            allowsInvalid: false,
            validatesName: false,
            refusals: [.untrusted: .certificateUntrusted, .expired: .certificateExpired]
        ),
        Row(
            mode: .certificate,
            allowsInvalid: true,
            validatesName: true,
            refusals: [.wrongHost: .certificateHostMismatch, .expired: .certificateExpired]
        ),
        Row(
            mode: .certificate,
            allowsInvalid: true,
            validatesName: false,
            refusals: [.expired: .certificateExpired]
        ),
        Row(
            mode: .publicKey,
            allowsInvalid: false,
            validatesName: true,
            refusals: [
                .wrongHost: .certificateHostMismatch, .untrusted: .certificateUntrusted, .expired: .certificateExpired,
            ]
        ),
        Row(
            mode: .publicKey,
            allowsInvalid: false,
            validatesName: false,
            refusals: [.untrusted: .certificateUntrusted, .expired: .certificateExpired]
        ),
        Row(mode: .publicKey, allowsInvalid: true, validatesName: true, refusals: [:]),
        Row(mode: .publicKey, allowsInvalid: true, validatesName: false, refusals: [:]),
    ]

    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority() }

    private func server(_ fault: Fault) throws -> MintedIdentity {
        switch fault {
        case .nothing: try authority.issue()
        case .wrongHost: try authority.issue(["other.example"])
        case .untrusted: try CertificateAuthority("Other").issue()
        case .expired: try authority.issue(validity: .expired)
        }
    }

    private func refusal(
        _ row: Row,
        _ fault: Fault,
        pinning place: KeyPath<MintedIdentity, MintedCertificate?>
    )
        async throws -> HTTPError.Code?
    {
        let server = try server(fault)
        let pinned = try #require(server[keyPath: place])
        let policy = try SecurityPolicy(
            mode: row.mode,
            pins: row.mode == .none ? [] : [.certificate(pinned)],
            allowsInvalidCertificates: row.allowsInvalid,
            validatesDomainName: row.validatesName
        )
        return try await TLSTrial(server, .trusting(authority, policy)).refusal()?.code
    }

    @Test(arguments: rows, Fault.allCases)
    func `each server has the result in the table`(row: Row, fault: Fault) async throws {
        #expect(try await refusal(row, fault, pinning: \.leaf) == row.refusals[fault])
    }

    @Test(arguments: rows, Fault.allCases)
    func `the result is the same if the issuer is pinned`(row: Row, fault: Fault) async throws {
        #expect(try await refusal(row, fault, pinning: \.issuer) == row.refusals[fault])
    }
}

extension MintedIdentity {
    fileprivate var leaf: MintedCertificate? { own }
    fileprivate var issuer: MintedCertificate? { above.first }
}
