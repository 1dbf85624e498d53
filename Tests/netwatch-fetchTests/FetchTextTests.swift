import CommandLineLab
import NetwatchCore
import NetworkClient
import ReachabilityCore
import Testing

@testable import netwatch_fetch

@Suite struct FetchTextTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (5_000_000_000, "5.0 GB"),
    ])
    func `numbers of bytes`(count: Int, text: String) {
        #expect(QuantityText.bytes(count) == text)
    }

    @Test func `durations`() {
        #expect(QuantityText.milliseconds(.microseconds(1234)) == "1.234 ms")
        #expect(QuantityText.milliseconds(.nanoseconds(499)) == "0.000 ms")
        #expect(QuantityText.seconds(.milliseconds(1050)) == "1.050000")
        #expect(QuantityText.rough(.seconds(59)) == "59 s")
        #expect(QuantityText.rough(.seconds(200)) == "3 m 20 s")
        #expect(QuantityText.rough(.seconds(3900)) == "1 h 5 m")
    }

    @Test func `secrets are not shown`() {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/a?b&token=hidden&page=2")
        let secrets = [
            "Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Proxy-Authorization", "X-Auth-Key",
            "X-Functions-Key",
            "Ocp-Apim-Subscription-Key", "Cookie2",
        ]
        for name in secrets { request.headerFields.append(.init(name: .init(name)!, value: "hidden")) }
        request.headerFields[.accept] = "text/plain"
        let lines = HeadText.lines(request, version: nil)
        #expect(lines.first == "GET /a?b&token=(not shown)&page=2 HTTP/1.1")
        let location = HTTPResponse(
            status: 302,
            headerFields: [.location: "http://me:hidden@x/cb?code=hidden#id_token=hidden"]
        )
        #expect(
            HeadText.lines(location).last == "Location: http://(not shown)@x/cb?code=(not shown)#id_token=(not shown)"
        )
        #expect(lines.contains("Accept: text/plain"))
        for name in secrets { #expect(lines.contains("\(name): (not shown)")) }
        #expect(
            HeadText.lines(HTTPResponse(status: 200, headerFields: [.setCookie: "hidden"])).last
                == "Set-Cookie: (not shown)"
        )
    }

    @Test func `partial metrics`() throws {
        let empty = MetricsText()
        #expect(empty.lines.contains("resolve     -") && empty.lines.contains("reused      no"))
        var figures = MetricsText(status: 204, firstByte: .milliseconds(2), total: .seconds(1), sent: 3, received: 7)
        var connection = ConnectMetrics()
        connection.connect = .microseconds(50)
        connection.remoteAddress = "/tmp/a\"b"
        figures.connection = connection
        #expect(figures.lines.contains("connect     0.050 ms"))
        let json = try JSONParser.parse(figures.json)
        #expect(json["address"] == .string("/tmp/a\"b"))
        #expect(json["received"] == .number(7))
        figures.isReused = true
        #expect(figures.lines.contains("connect     -"))
    }
}
