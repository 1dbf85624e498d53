import ArgumentParser
import CommandLineLab
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

@testable import netwatch_fetch

/// `--proxy`, `--noproxy` and the environment.
@Suite(.timeLimit(.minutes(5)))
struct FetchProxyTests {
    private func configuration(_ arguments: String...) throws -> ProxyConfiguration {
        var configuration = HTTPConfiguration()
        try FetchProxyOptions.parse(arguments).apply(to: &configuration)
        return configuration.proxy
    }

    @Test func `options select the proxy`() throws {
        #expect(try configuration() == .environment)
        #expect(try configuration("--proxy", "") == .direct)
        #expect(try configuration("--noproxy", "a") == .environmentExcept(.init("a")))
        let server = try ProxyServer("http://proxy:1")
        #expect(try configuration("-x", "proxy:1", "--noproxy", "a,b") == .all(server, except: .init("a,b")))
        #expect(try configuration("-xproxy:1", "--noproxy", "") == .all(server))
    }

    @Test func `an invalid proxy is a usage error without the password`() throws {
        let lab = try FetchLab()
        let run = try lab.fetch("http://127.0.0.1/", "--proxy", "ftp://me:sec1et@proxy")
        #expect(run.code == 64)
        #expect(run.error?.contains("'ftp' is not among those that are spoken") == true)
        #expect(!run.errors.contains("sec1et"))
    }

    @Test func `requests use the proxy, except for excluded hosts`() throws {
        let lab = try FetchLab()
        let proxy = try lab.server(answering: "proxy")
        let origin = try lab.server(answering: "origin")
        let login = "me:pw@127.0.0.1:\(proxy.port)"
        #expect(try lab.fetch(origin.url(), "--proxy", login).output == "proxy")
        #expect(proxy.request?.head.hasPrefix("GET \(origin.url()) HTTP/1.1\r\n") == true)
        #expect(proxy.request?.head.contains("Proxy-Authorization: Basic bWU6cHc=\r\n") == true)
        #expect(try lab.fetch(origin.url(), "--proxy", login, "--noproxy", "127.0.0.0/8").output == "origin")
    }

    @Test func `options take precedence over the environment`() throws {
        let lab = try FetchLab()
        let proxy = try lab.server(answering: "proxy")
        let origin = try lab.server(answering: "origin")
        let variables = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
        func fetch(_ arguments: String..., variables: [String: String]) throws -> LabProcess.Outcome {
            let words = ["fetch", origin.url()] + arguments
            return try lab.namespace.run { try LabProcess.run(ToolBinary.path, words, environment: variables) }
        }
        #expect(try fetch(variables: variables).output == "proxy")
        #expect(try fetch("--proxy", "", variables: variables).output == "origin")
        #expect(try fetch("--noproxy", "127.0.0.1", variables: variables).output == "origin")
        let excepted = variables.merging(["no_proxy": "127.0.0.1"]) { $1 }
        #expect(try fetch(variables: excepted).output == "origin")
        #expect(try fetch("--noproxy", "", variables: excepted).output == "proxy")
        let bad = try fetch(variables: ["ALL_PROXY": "gopher://me:sec1et@x"])
        #expect(bad.code == 2)
        #expect(bad.errors.contains("the environment's variable ALL_PROXY names no proxy"))
        #expect(!bad.errors.contains("sec1et"))
    }

    @Test func `exit codes are curl's`() throws {
        let lab = try FetchLab()
        let closing = try lab.server(.readHead)
        let refusing = try lab.server(.readHead, .response(status: "403 No"))
        let socks = try lab.server(.readBytes(3), .sendBytes([5, 0xFF]))
        let url = "https://origin.example/"
        #expect(try lab.fetch(url, "-x", "127.0.0.1:9").code == 7)
        #expect(try lab.fetch(url, "-x", "127.0.0.1:\(closing.port)").code == 56)
        let refused = try lab.fetch(url, "-x", "127.0.0.1:\(refusing.port)")
        #expect(refused.code == 56)
        #expect(refused.error?.contains("does not connect to origin.example:443: it responded with 403 No") == true)
        #expect(try lab.fetch(url, "-x", "socks5h://127.0.0.1:\(socks.port)").code == 97)
    }
}
