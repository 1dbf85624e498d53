import NetworkClientCore
import Testing

@testable import NetworkClient

struct ProxyTableTests {
    private func proxy(
        for url: String,
        _ configuration: ProxyConfiguration = .environment,
        _ variables: [String: String] = [:]
    ) throws -> String? {
        let environment = ProxyEnvironment { variables[$0] }
        return try ProxyTable(configuration, environment)?.proxy(for: HTTPURL(url)).map { "\($0)" }
    }

    @Test func `where there is no proxy there is no table`() {
        #expect(ProxyTable(.direct, .init { _ in "x" }) == nil)
        #expect(ProxyTable(.environment, .init { _ in nil }) == nil)
        #expect(ProxyTable(.environment, .init { $0 == "no_proxy" ? "x" : nil }) == nil)
        #expect(ProxyTable(.environmentExcept(.none), .init { _ in nil }) == nil)
        #expect(ProxyTable(.proxies(http: nil, https: nil), .init { _ in "x" }) == nil)
    }

    @Test func `the environment's proxies and exceptions are used`() throws {
        let variables = ["http_proxy": "a:1", "HTTPS_PROXY": "b:2", "no_proxy": "x.example,::1"]
        #expect(try proxy(for: "http://y", .environment, variables) == "http://a:1")
        #expect(try proxy(for: "https://y", .environment, variables) == "http://b:2")
        for host in ["x.example", "www.X.example.", "[::1]"] {
            #expect(try proxy(for: "http://\(host):8080/", .environment, variables) == nil)
        }
        #expect(try proxy(for: "http://x.example", .environmentExcept(.init("y")), variables) == "http://a:1")
        #expect(try proxy(for: "http://y", .environmentExcept(.init("y")), variables) == nil)
    }

    @Test func `loopback is no exception`() throws {
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            #expect(try proxy(for: "http://\(host)", .environment, ["all_proxy": "socks5://a"]) == "socks5://a:1080")
        }
    }

    @Test func `explicit proxies apply to their schemes, and the environment is ignored`() throws {
        let server = try ProxyServer("http://a:1")
        let configuration = ProxyConfiguration.proxies(http: nil, https: server, except: .init("x"))
        let variables = ["all_proxy": "b:2", "no_proxy": "*"]
        #expect(try proxy(for: "http://y", configuration, variables) == nil)
        #expect(try proxy(for: "https://y", configuration, variables) == "http://a:1")
        #expect(try proxy(for: "https://x", configuration, variables) == nil)
        #expect(try proxy(for: "http://y", .all(server), variables) == "http://a:1")
    }

    @Test func `an invalid variable fails only the requests that would use it, and is named`() throws {
        let variables = ["ALL_PROXY": "socks4://sec1et:sec1et@a:1", "http_proxy": "a:1", "no_proxy": "x"]
        #expect(try proxy(for: "http://y", .environment, variables) == "http://a:1")
        #expect(try proxy(for: "https://x", .environment, variables) == nil)
        let error = #expect(throws: HTTPError.self) { try proxy(for: "https://y", .environment, variables) }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.reason.hasPrefix("the environment's variable ALL_PROXY names no proxy: 'socks4' is not among")
                == true
        )
        #expect(error?.reason.contains("sec1et") == false)
    }
}
