import CommandLineLab
import CommandLineSupport
import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchUserTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    /// A server that wants to know who asks.
    private func server() throws -> ScriptedServer {
        let challenge = "WWW-Authenticate: Basic realm=\"here\", charset=\"UTF-8\""
        return try lab.server(
            .readRequest,
            .response("", status: "401 Unauthorized", headers: [challenge]),
            .readRequest,
            .response("in")
        )
    }

    private func credentials(of server: ScriptedServer) -> [String?] {
        server.connections.flatMap(\.requests).map { request in
            let lines = request.head.split(separator: "\r\n")
            return lines.first { $0.hasPrefix("Authorization: ") }.map { String($0.dropFirst(15)) }
        }
    }

    @Test func `who asks`() throws {
        #expect(try UserArgument.parse("me") == .init(name: "me", password: nil))
        #expect(try UserArgument.parse("me:a:b") == .init(name: "me", password: "a:b"))
        #expect(try UserArgument.parse("me:") == .init(name: "me", password: ""))
        for (text, words) in [("", "name is missing"), (":x", "name is missing"), ("a\n:secret", "control character")] {
            let error = try #require(throws: ArgumentError.self) { try UserArgument.parse(text) }
            #expect(error.description.contains(words) && !error.description.contains("secret"))
        }
    }

    @Test func `the password of the argument goes to the server that asks`() throws {
        let server = try server()
        let run = try lab.fetch("--user", "Aladdin:open sesame", server.url())
        #expect(run.output == "in" && run.code == 0, "\(run)")
        #expect(credentials(of: server) == [nil, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func `or a file's first line`() throws {
        let server = try server()
        let file = try lab.folder.write("password", "open sesame\r\nmore\n")
        let run = try lab.fetch("-u", "Aladdin", "--password-file", file, server.url())
        #expect(run.output == "in" && run.code == 0, "\(run)")
        #expect(credentials(of: server).last == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let empty = try lab.folder.write("empty", "\n")
        let nothing = try lab.fetch("-u", "Aladdin", "--password-file", empty, server.url())
        #expect(nothing.code == 26 && nothing.error?.hasPrefix("the first line of '\(empty)' is empty") == true)
        let missing = try lab.fetch("-u", "Aladdin", "--password-file", "/no/such", server.url())
        #expect(missing.code == 26 && missing.error?.hasPrefix("can't read '/no/such': No such file") == true)
    }

    @Test(arguments: [
        (["-u", ":secret"], "the name is missing"), (["--password-file", "x"], "--password-file is of no use"),
        (["-u", "a:secret", "--password-file", "x"], "two passwords"),
    ])
    func `what can't be taken, without a password in it`(arguments: [String], words: String) throws {
        let tool = try lab.start(arguments + ["http://127.0.0.1:9/"])
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains(words) && !errors.contains("secret") && errors.split(separator: "\n").count == 1)
    }

    @Test func `an URL that is none is told as such, whoever asks`() throws {
        for url in ["http://exa mple/", "http:///", "ftp://x/"] {
            let run = try lab.fetch("-u", "me:secret", url)
            #expect(run.code == (url.hasPrefix("ftp") ? 1 : 3), "\(run)")
            #expect(run.error?.contains("credential") == false && !run.errors.contains("secret"))
        }
    }

    @Test func `user and password in the URL do the same, and are shown nowhere`() throws {
        let server = try server()
        let url = "http://Aladdin:open%20sesame@127.0.0.1:\(server.port)/"
        let run = try lab.fetch("-v", url)
        #expect(run.output == "in" && run.code == 0, "\(run)")
        #expect(credentials(of: server) == [nil, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        #expect(!run.errors.contains("sesame") && !run.errors.contains("QWxhZGRpbj"))
        let refused = try lab.fetch("http://Aladdin:open%20sesame@127.0.0.1:1/")
        #expect(refused.code == 7 && !refused.errors.contains("sesame"))
        let unread = try lab.fetch("http://Aladdin:open%20sesame@exa mple/")
        #expect(unread.code == 3 && !unread.errors.contains("sesame"))
        let both = try lab.fetch("-u", "me:x", url)
        #expect(both.code == 64 && both.error?.contains("two users") == true && !both.errors.contains("sesame"))
    }

    // MARK: The question

    @Test func `a password is asked for, and not shown`() throws {
        let server = try server()
        let terminal = try PseudoTerminal()
        let tool = try lab.start(["-u", "Aladdin", server.url()], session: .own(terminal: terminal.path))
        terminal.handOver()
        let asked = try terminal.read(until: "Password for Aladdin: ")
        terminal.type("open sesame\n")
        let rest = try terminal.screen.rest()
        #expect(!(asked + rest).contains("sesame"))
        #expect(try tool.output.rest() == "in")
        #expect(try tool.exitCode() == 0)
        #expect(credentials(of: server).last == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test func `an interrupt ends the question, and the terminal shows again what is typed`() throws {
        let terminal = try PseudoTerminal()
        let tool = try lab.start(["-u", "Aladdin", "http://127.0.0.1:9/"], session: .own(terminal: terminal.path))
        _ = try terminal.read(until: "Password for Aladdin: ")
        terminal.type("\u{3}")
        #expect(try tool.exitCode() == 130)
        #expect(terminal.showsWhatIsTyped)
    }

    @Test func `without a terminal it says where else a password may come from`() throws {
        let tool = try lab.start(["-u", "Aladdin", "http://127.0.0.1:9/"], session: .own(terminal: nil))
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains("give --password-file FILE") && errors.split(separator: "\n").count == 1, "\(errors)")
    }
}
