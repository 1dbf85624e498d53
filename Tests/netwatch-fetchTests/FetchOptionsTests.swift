import ArgumentParser
import CommandLineSupport
import LinuxSystem
import NetworkClient
import Testing

@testable import netwatch_fetch

@Suite struct FetchOptionsTests {
    private func command(_ arguments: String...) throws -> FetchCommand {
        try #require(NetwatchFetch.parseAsRoot(["fetch"] + arguments + ["http://x/"]) as? FetchCommand)
    }

    @Test func `the method follows from what is sent`() throws {
        #expect(try command().request.method == .get)
        #expect(try command("-d", "x").request.method == .post)
        #expect(try command("--json", "1").request.method == .post)
        #expect(try command("-I").request.method == .head)
        #expect(try command("-XPUT", "-dx").request.method == .put)
        #expect(try command("--param", "a=b").request.method == .get)
    }

    @Test func `JSON is accepted where JSON is sent, unless the user says otherwise`() throws {
        #expect(try command("--json", "1").request.headers[.accept] == "application/json")
        #expect(try command("--json", "1", "-H", "accept: text/plain").request.headers[.accept] == "text/plain")
        #expect(try command("-d", "1").request.headers[.accept] == nil)
    }

    @Test func `limits of time`() throws {
        #expect(try command().connection.timeouts == Timeouts())
        let limited = try command("--max-time", "5m", "--connect-timeout", "2s").connection.timeouts
        let two = Duration.seconds(2)
        #expect(
            limited
                == Timeouts(
                    resolve: two,
                    connect: two,
                    tls: two,
                    firstByte: nil,
                    read: nil,
                    write: nil,
                    total: .seconds(300)
                )
        )
    }

    @Test func `options become the session's configuration`() throws {
        let journal = try FetchJournal(wakeup: Wakeup.open(), isVerbose: false)
        let plain = try command().connection.configuration(.init(), monitor: journal)
        #expect(plain.maximumBodySize == 64 << 20 && plain.decompresses && plain.binding == .unbound)
        #expect(plain.headers[.userAgent] == "netwatch/\(CommandLineProgram.version)")
        let options = ["--max-size", "2K", "--no-compressed", "--interface", "lo", "--unix-socket", "/s"]
        let other = try #require(NetwatchFetch.parseAsRoot(["fetch", "http://x/"] + options) as? FetchCommand)
        let configuration = other.connection.configuration(.init(), monitor: journal)
        #expect(configuration.maximumBodySize == 2048 && !configuration.decompresses)
        #expect(configuration.binding == .interface("lo") && configuration.unixSocketPath == "/s")
    }

    @Test func `the last version of HTTP counts`() throws {
        let journal = try FetchJournal(wakeup: Wakeup.open(), isVerbose: false)
        let cases: [([String], HTTP2Policy)] = [
            ([], .automatic), (["--http2"], .automatic), (["--http1.1"], .off),
            (["--http2-prior-knowledge"], .priorKnowledge), (["--http1.1", "--http2"], .automatic),
        ]
        for (options, policy) in cases {
            let parsed = try NetwatchFetch.parseAsRoot(["fetch", "http://x/"] + options)
            let fetch = try #require(parsed as? FetchCommand)
            #expect(fetch.connection.configuration(.init(), monitor: journal).http2 == policy)
        }
    }

    @Test func `pins and trust`() throws {
        let text = "sha256//" + String(repeating: "A", count: 43) + "="
        let pinned = try command("--pin", text, "-k").trust.tls()
        let pin = try Pin(text)
        #expect(pinned.policy.mode == .publicKey && pinned.policy.pins == [pin])
        #expect(pinned.policy.allowsInvalidCertificates && !pinned.policy.validatesDomainName)
        #expect(try command().trust.tls().policy == .standard)
        #expect(try command("-k").trust.tls().policy == .insecure)
    }
}
