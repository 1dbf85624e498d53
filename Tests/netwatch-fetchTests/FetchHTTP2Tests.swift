import CommandLineLab
import HTTPLab
import NetworkLab
import Testing

@Suite(.enabled(if: HTTP2Server.areInstalled, Comment(rawValue: HTTP2Server.advice)))
struct FetchHTTP2Tests {
    private let lab: FetchLab
    private let root: String
    private let secure: HTTP2Server
    private let plain: HTTP2Server

    init() throws {
        let (lab, authority) = (try FetchLab(), try CertificateAuthority())
        (secure, plain) = try lab.namespace.run {
            (try HTTP2Server(.nginx, identity: authority.issue()), try HTTP2Server(.nghttpd))
        }
        root = try lab.folder.write("root.pem", authority.rootPEM)
        self.lab = lab
    }

    @Test(arguments: [("--http2", "HTTP/2"), ("--http1.1", "HTTP/1.1")])
    func `the version that was selected is printed with the request`(option: String, version: String) throws {
        let run = try lab.fetch("-v", "--cacert", root, option, "\(secure.url)/small.txt")
        #expect(run.code == 0 && run.output.utf8.count == 1_000, "\(run)")
        #expect(run.errors.contains("\n> GET /small.txt \(version)\n"), "\(run.errors)")
        #expect(run.errors.contains(" over HTTP/2: ") == (version == "HTTP/2"))
    }

    @Test func `without TLS, HTTP/2 is used only if it is demanded`() throws {
        let url = "\(plain.url)/small.txt"
        let run = try lab.fetch("-v", "--http2-prior-knowledge", url)
        #expect(run.code == 0 && run.errors.contains("\n> GET /small.txt HTTP/2\n"), "\(run)")
        let refused = try lab.fetch("--http2", url)
        #expect(refused.code == 8 && refused.error?.contains("can't be read as HTTP/1.1") == true, "\(refused)")
    }
}
