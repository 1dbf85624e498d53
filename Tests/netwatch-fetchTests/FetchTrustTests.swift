import CommandLineLab
import HTTPLab
import NetworkLab
import Testing

@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)))
struct FetchTrustTests {
    private let lab: FetchLab
    private let authority: CertificateAuthority
    private let identity: MintedIdentity
    private let nginx: Nginx
    private let root: String

    init() throws {
        lab = try FetchLab()
        authority = try CertificateAuthority()
        identity = try authority.issue()
        root = try lab.folder.write("root.pem", authority.rootPEM)
        nginx = try Self.nginx(identity, in: lab)
    }

    private static func nginx(
        _ identity: MintedIdentity,
        in lab: FetchLab,
        _ change: (inout Nginx.Options) -> Void = { _ in }
    ) throws -> Nginx {
        var options = Nginx.Options()
        options.certificate = try identity.write(to: lab.folder)
        change(&options)
        let nginx = try lab.keep(Nginx(options, in: lab.namespace))
        try nginx.files.write("a.txt", String(repeating: "secret ", count: 100))
        return nginx
    }

    private func url(_ nginx: Nginx) -> String {
        "https://localhost:\(nginx.securePort)/a.txt"
    }

    @Test func `the given root is trusted, the response decompressed, and the TLS version printed`() throws {
        let run = try lab.fetch("--cacert", root, "-v", "--metrics", url(nginx))
        #expect(run.code == 0)
        #expect(run.output == String(repeating: "secret ", count: 100))
        #expect(run.errors.contains("* TLSv1.3, handshake in ") && run.errors.contains("< Content-Encoding: gzip"))
        #expect(!run.errors.contains("tls         -"))
    }

    @Test func `an unknown root is not trusted, except with --insecure`() throws {
        let run = try lab.fetch(url(nginx))
        #expect(run.code == 60)
        #expect(run.error?.hasSuffix("; --cacert FILE trusts another root") == true, "\(run.errors)")
        #expect(try lab.fetch("-k", url(nginx)).code == 0)
    }

    @Test func `another host's certificate, and one out of date`() throws {
        let elsewhere = try Self.nginx(authority.issue(["x.example"], addresses: []), in: lab)
        let other = try lab.fetch("--cacert", root, url(elsewhere))
        #expect(other.code == 60)
        #expect(other.error?.contains("the certificate is not for localhost, but for x.example") == true)
        let expired = try Self.nginx(authority.issue(validity: .expired), in: lab)
        let run = try lab.fetch("--cacert", root, url(expired))
        #expect(run.code == 60)
        #expect(run.error?.contains("has expired on") == true, "\(run.errors)")
    }

    @Test func `pins, right and wrong`() throws {
        let right = identity.own.pin.replacing("sha256/", with: "sha256//")
        let wrong = try CertificateAuthority("Other").root.pin
        let file = try lab.folder.write("pin.pem", identity.own.pem)
        for pin in [right, file] {
            #expect(try lab.fetch("--cacert", root, "--pin", pin, url(nginx)).code == 0)
        }
        #expect(try lab.fetch("-k", "--pin", wrong, "--pin", right, url(nginx)).code == 0)
        for trust in [["--cacert", root], ["-k"]] {
            let tool = try lab.start(trust + ["--pin", wrong, url(nginx)])
            #expect(try tool.exitCode() == 90)
            #expect(try tool.errors.rest().contains("none of the pins is in the chain of localhost"))
            #expect(try tool.output.rest() == "")
        }
        #expect(try lab.fetch("--pin", "/no/such/pin.pem", url(nginx)).code == 90)
    }

    @Test func `a client certificate`() throws {
        let clients = try CertificateAuthority("Clients")
        let trusted = try lab.folder.write("clients.pem", clients.intermediate.pem + clients.rootPEM)
        let asking = try Self.nginx(identity, in: lab) { options in
            options.clientAuthority = trusted
            options.directives = ["ssl_verify_depth 3;"]
        }
        let files = try clients.issueClient().write(to: lab.folder, as: "client")
        let shown = try lab.fetch("--fail", "--cacert", root, "--cert", files.chain, "--key", files.key, url(asking))
        #expect(shown.code == 0, "\(shown.errors)")
        // nginx refuses with a response, not in the handshake.
        #expect(try lab.fetch("--fail", "--cacert", root, url(asking)).code == 22)
    }

    @Test func `files that can't be used`() throws {
        let noRoot = try lab.fetch("--cacert", "/no/such/file", url(nginx))
        #expect(noRoot.code == 77)
        #expect(noRoot.error == "no root: /no/such/file can't be read: No such file or directory")
        #expect(try lab.fetch("--cacert", "/etc/passwd", url(nginx)).code == 77)
        #expect(try lab.fetch("--cert", root, url(nginx)).code == 58)
    }

    @Test func `a server without TLS`() throws {
        let run = try lab.fetch("--cacert", root, "https://localhost:\(nginx.port)/")
        #expect(run.code == 35)
        #expect(run.error?.contains("is it http, or another port?") == true, "\(run.errors)")
    }
}
