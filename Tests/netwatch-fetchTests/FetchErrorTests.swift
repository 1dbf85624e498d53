import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite struct FetchErrorTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    @Test(arguments: [
        (["fetch"], "Missing expected argument '<url>'"), (["fetch", "-X", "GE T", "http://x/"], "it is no method"),
        (["fetch", "-H", "nonsense", "http://x/"], "the ':' is missing"),
        (["fetch", "--param", "a=1", "--param", "a[b]=1", "http://x/"], "contradict each other"),
        (["fetch", "--param", "[", "http://x/"], "the name is missing"),
        (["fetch", "--json", "1", "-d", "2", "http://x/"], "both bodies"),
        (["fetch", "--json", "1", "--json", "2", "http://x/"], "give one whole text"),
        (["fetch", "--json", "[1", "http://x/"], "line 1, column 3"),
        (["fetch", "-I", "-d", "1", "http://x/"], "--head sends no body"),
        (["fetch", "-I", "-X", "GET", "http://x/"], "leave out --request"),
        (["fetch", "-d", "-", "-d", "-", "http://x/"], "stdin can be read once"),
        (["fetch", "--key", "k", "http://x/"], "--cert"), (["fetch", "--pin", "sha256//x", "https://x/"], "32 bytes"),
        (["fetch", "--pin", "a.pem", "http://x/"], "of no use with http"),
        (["fetch", "-o", "", "http://x/"], "is empty"),
        (["fetch", "--max-time", "5", "http://x/"], "the unit is missing"),
        (["fetch", "--max-size", "2G", "-i", "http://x/"], "held in memory"),
        (["fetch", "--max-size", "2G", "-o", "/tmp/x", "-i", "http://x/"], "held in memory"),
        (["fetch", "--interface", "a b", "http://x/"], "write wwan0 or 192.0.2.2"),
        (["fetch", "-f", "--fail-with-body", "http://x/"], "give one of them"),
        (["fetch", "--wait", "soon", "http://x/"], "such as 250ms"),
        (["fetch", "--wait", "-1s", "http://x/"], "can't be negative"),
        (["fetch", "--retry", "-1", "http://x/"], "write a whole number"),
        (["fetch", "--retry", "99999999999999999999", "http://x/"], "too large"),
        (["fetch", "--wifi-only", "--no-expensive", "http://x/"], "can't be had together"),
        (["fetch", "--interface", "lo", "--no-cellular", "http://x/"], "leave out --no-cellular, or --interface"),
        (["fetch", "--kind", "lo", "http://x/"], "write PATTERN=KIND"),
        (["fetch", "--metrics", "--metrics-json", "http://x/"], "give one of them"),
    ])
    func `usage errors are one line, and the code is 64`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(arguments, in: lab.namespace)
        #expect(try tool.exitCode() == 64)
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: ") && errors.contains(words), "\(errors)")
        #expect(errors.filter(\.isNewline) == "\n")
        #expect(try tool.output.rest() == "")
    }

    @Test(
        arguments: [
            ("ftp://x/", 1, "'ftp' is not supported"), ("x.example", 3, "let it begin with http://"),
            ("http:///", 3, "host"),
            ("http://nope.invalid/", 6, "'nope.invalid'"), ("http://127.0.0.1:1/", 7, "refuses connections"),
            ("http://192.0.2.1/", 7, "there is no route to 192.0.2.1:80"),
        ] as [(String, Int32, String)]
    )
    func `unreachable hosts`(url: String, code: Int32, words: String) throws {
        let run = try lab.fetch(url)
        #expect(run.code == code)
        #expect(run.error?.contains(words) == true, "\(run.errors)")
        #expect(run.output == "")
    }

    private static let faults: [([ServerStep], Int32)] = [
        ([.readRequest, .close], 52), ([.readRequest, .reset], 56), ([.readRequest, .send("SSH-2.0-x\r\n\r\n")], 8),
        ([.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close], 18),
        ([.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")], 61),
        (
            [
                .readRequest, .send("HTTP/1.1 200 OK\r\n"),
                .flood(Array("X-A: \(String(repeating: "a", count: 1000))\r\n".utf8)),
            ], 100
        ),
    ]

    @Test(arguments: 0..<faults.count)
    func `servers' faults`(index: Int) throws {
        let (steps, code) = Self.faults[index]
        let run = try lab.fetch(lab.server(steps).url())
        #expect(run.code == code, "\(run.errors)")
        #expect(run.error?.hasPrefix("GET http://127.0.0.1:") == true, "\(run.errors)")
        // The bytes before the truncation have been printed.
        #expect(run.output == (code == 18 ? "abc" : ""))
    }

    @Test(arguments: ["-i", "--max-size=1M"])
    func `a body that exceeds the memory limit or --max-size is an error`(option: String) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
        let run = try lab.fetch(option, lab.server(.readRequest, .send(head), .hold).url())
        #expect(run.code == 63 && run.output == "")
        #expect(run.error?.contains("larger than allowed; give a larger --max-size") == true, "\(run.errors)")
    }

    @Test func `too slow`() throws {
        let run = try lab.fetch("--max-time", "20ms", lab.server(.hold).url())
        #expect(run.code == 28)
        #expect(run.error?.hasSuffix("give a longer --max-time") == true, "\(run.errors)")
        let silent = try lab.server(.hold)
        let handshake = try lab.fetch("--connect-timeout", "20ms", "https://127.0.0.1:\(silent.port)/")
        #expect(handshake.code == 28)
        #expect(handshake.error?.hasSuffix("--connect-timeout allows more") == true, "\(handshake.errors)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `signals end it`(signal: Int32) async throws {
        let server = try lab.server(.readRequest, .hold)
        // Longer than any machine is busy: the signal ends it.
        let tool = try lab.start(["--max-time", "10m", server.url()])
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        tool.send(signal)
        #expect(try tool.exitCode() == 128 + signal)
        #expect(try tool.errors.rest() == "")
        #expect(try await server.waitForEnds().first?.clientEnd != nil)
    }
}
