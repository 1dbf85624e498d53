import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// Makes the TLS handlers of a session's connections; contexts are made once.
struct TLSClient: Sendable {
    private let context: NIOSSLContext
    private let policies: HostPolicies
    private let roots: TrustRoots
    private let namedRoots: [Certificate]
    private let challengeHandler: ChallengeHandler?

    /// Throws ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    init(_ options: TLSOptions) throws(HTTPError) {
        policies = try HostPolicies(options)
        roots = options.roots
        namedRoots = options.roots.certificates.compactMap { try? Certificate(derEncoded: $0) }
        challengeHandler = options.challengeHandler
        do {
            context = try NIOSSLContext(configuration: Self.configuration(options))
        } catch {
            throw .badCertificate("TLS can't be set up: \(String(describing: error).printable)", cause: error)
        }
    }

    /// A handler for one connection, and where it leaves why it refused the server.
    ///
    /// The host is a name in its ASCII form, or an address, which no server is told (RFC 6066, section 3).
    func makeHandler(host: String) throws(HTTPError) -> (handler: NIOSSLClientHandler, verdict: TLSVerdict) {
        let name = ServerName(host)
        let verdict = TLSVerdict()
        let trial = HandshakeTrial(judge: judge(for: name), verdict: verdict)
        do {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: name.hostName) { chain, promise in
                trial.start(chain, promise)
            }
            return (handler, verdict)
        } catch {
            let reason = "\"\(host.printable)\" can't be the name of a TLS server"
            throw HTTPError(.invalidURL, .neverSent, reason, cause: error)
        }
    }

    private func judge(for name: ServerName) -> ServerJudge {
        ServerJudge(
            name: name,
            policy: policies.policy(for: name),
            roots: roots,
            namedRoots: namedRoots,
            challengeHandler: challengeHandler
        )
    }

    /// What BoringSSL has to know; it is spared the roots, since the verdict is not its own.
    private static func configuration(_ options: TLSOptions) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.minimumTLSVersion = options.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        options.clientIdentity?.apply(to: &configuration)
        return configuration
    }
}
