import HTTPLab
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Debian's proxies, between a session and a real nginx.
@Suite(.enabled(if: Nginx.isInstalled, "\(Nginx.advice)"), .timeLimit(.minutes(5)))
struct RealProxyTests {
    private let authority: CertificateAuthority
    private let folder: LabFolder

    init() throws {
        authority = try CertificateAuthority()
        folder = try LabFolder()
    }

    /// A proxy and an nginx behind it.
    private func run(
        _ kind: RealProxy.Kind,
        user: String? = nil,
        _ change: (inout RealProxy.Options) -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await ProxyLab.run { lab in
            let nginx = try lab.nginx(authority.issue(), folder)
            var options = RealProxy.Options()
            options.user = user
            options.password = "pw"
            options.ports = [nginx.securePort]
            change(&options)
            let proxy = try RealProxy(kind, options, in: lab.lab)
            try await body(.init(lab: lab, nginx: nginx, proxy: proxy, kind: kind, authority: authority))
        }
    }

    struct Stage {
        let lab: ProxyLab
        let nginx: Nginx
        let proxy: RealProxy
        let kind: RealProxy.Kind
        let authority: CertificateAuthority

        func session(_ login: String = "", scheme: String? = nil, port: UInt16? = nil) throws -> HTTPSession {
            let scheme = scheme ?? (kind == .microsocks ? "socks5h" : "http")
            let server = try ProxyServer("\(scheme)://\(login)127.0.0.1:\(port ?? proxy.port)")
            return try lab.session(.all(server)) { $0.tls = try .trusting(authority) }
        }

        var urls: [String] {
            ["http://127.0.0.1:\(nginx.port)/hello", "https://127.0.0.1:\(nginx.securePort)/hello"]
        }
    }

    private func check(_ stage: Stage, _ session: HTTPSession) async throws {
        for url in stage.urls + stage.urls {
            let response = try await session.get(url).response()
            #expect(response.status == 200)
            #expect(response.bytes == Array("hello".utf8))
        }
    }

    @Test(arguments: RealProxy.Kind.allCases.filter(RealProxy.isInstalled))
    func `http and https, without authentication`(kind: RealProxy.Kind) async throws {
        try await run(kind) { try await check($0, $0.session()) }
    }

    @Test(arguments: RealProxy.Kind.allCases.filter(RealProxy.isInstalled))
    func `http and https, with a password`(kind: RealProxy.Kind) async throws {
        try await run(kind, user: "me") { try await check($0, $0.session("me:pw@")) }
    }

    @Test(arguments: RealProxy.Kind.allCases.filter(RealProxy.isInstalled))
    func `the wrong password, or none`(kind: RealProxy.Kind) async throws {
        try await run(kind, user: "me") { stage in
            for login in ["", "me:sec1et@"] {
                let error = try await stage.lab.failure(stage.session(login), stage.urls[1])
                #expect(error.code == .proxyAuthenticationRequired)
                #expect(error.processing == .neverSent)
                #expect(!"\(error)".contains("sec1et"))
            }
        }
    }

    @Test(arguments: RealProxy.Kind.allCases.filter(RealProxy.isInstalled))
    func `a target that refuses, and one that is not allowed`(kind: RealProxy.Kind) async throws {
        try await run(kind) { stage in
            let refused = try await stage.lab.failure(stage.session(), "https://127.0.0.1:9/")
            #expect(refused.code == .proxyConnectFailed)
            guard kind != .microsocks else { return }
            let forbidden = try await stage.lab.failure(stage.session(), "https://127.0.0.1:22/")
            #expect(forbidden.code == .proxyRefused)
            #expect(forbidden.response?.status == 403)
            #expect(!forbidden.body.isEmpty)
        }
    }

    @Test(.enabled(if: RealProxy.isInstalled(.squid), "\(RealProxy.advice(.squid))"))
    func `TLS with the proxy itself, held against its own name`() async throws {
        // Debian's squid shows nothing but its own certificate.
        let request = CertificateRequest("localhost", names: ["localhost"], addresses: ["127.0.0.1"])
        let identity = try MintedIdentity(own: MintedCertificate(request, by: authority.root))
        let certificate = try LabFolder()
        let files = try certificate.write(identity)
        let addCertificate: (inout RealProxy.Options) -> Void = { $0.certificate = files }
        try await run(.squid, user: "me", addCertificate) { stage in
            let port = RealProxy.squidSecurePort
            try await check(stage, stage.session("me:pw@", scheme: "https", port: port))
            let other = try CertificateAuthority("Other")
            let server = try ProxyServer("https://me:pw@127.0.0.1:\(port)")
            let session = try stage.lab.session(.all(server)) { $0.tls = try .trusting(other) }
            for url in stage.urls {
                let error = try await stage.lab.failure(session, url)
                #expect(error.code == .certificateUntrusted)
                #expect(error.proxy == "https://127.0.0.1:\(port)")
            }
        }
        _ = certificate
    }

    @Test(.enabled(if: RealProxy.isInstalled(.squid), "\(RealProxy.advice(.squid))"))
    func `concurrent requests through one proxy`() async throws {
        try await run(.squid, user: "me") { stage in
            let session = try stage.session("me:pw@")
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for count in 0..<60 { group.addTask { try await session.get(stage.urls[count % 2]).response().bytes } }
                for try await bytes in group { #expect(bytes == Array("hello".utf8)) }
            }
        }
    }

    @Test(.enabled(if: RealProxy.isInstalled(.squid), "\(RealProxy.advice(.squid))"))
    func `Digest is authorized, preemptively on further connections`() async throws {
        let wantDigest: (inout RealProxy.Options) -> Void = { $0.isDigest = true }
        try await run(.squid, user: "me", wantDigest) { stage in
            try await check(stage, stage.session("me:pw@"))
            let session = try stage.session("me:pw@")
            let body = [UInt8](repeating: 65, count: 100_000)
            let url = "http://127.0.0.1:\(stage.nginx.port)/accept"
            #expect(try await session.post(url, body: .bytes(body)).string() == "ok")
            for (index, login) in ["me:sec1et@", "you:pw@", ""].enumerated() {
                let error = try await stage.lab.failure(stage.session(login), stage.urls[index % 2])
                #expect(error.code == .proxyAuthenticationRequired)
            }
        }
    }
}
