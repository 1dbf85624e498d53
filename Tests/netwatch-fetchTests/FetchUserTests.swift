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

    /// A server that requires authentication.
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

    @Test func `the user is authenticated`() throws {
        #expect(try UserArgument.parse("me") == .init(name: "me", password: nil))
        #expect(try UserArgument.parse("me:a:b") == .init(name: "me", password: "a:b"))
        #expect(try UserArgument.parse("me:") == .init(name: "me", password: ""))
        for (text, words) in [("", "name is missing"), (":x", "name is missing"), ("a\n:secret", "control character")] {
            let error = try #require(throws: ArgumentError.self) { try UserArgument.parse(text) }
            #expect(error.description.contains(words) && !error.description.contains("secret"))
        }
    }

    @Test func `a password in the argument is sent to a server that challenges`() throws {
        let server = try server()
        let run = try lab.fetch("--user", "Aladdin:open sesame", server.url())
        #expect(run.output == "in" && run.code == 0, "\(run)")
        #expect(credentials(of: server) == [nil, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func `a password is read from the first line of a file`() throws {
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
    func `invalid values are reported without the password`(arguments: [String], words: String) throws {
        let tool = try lab.start(arguments + ["http://127.0.0.1:9/"])
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains(words) && !errors.contains("secret") && errors.split(separator: "\n").count == 1)
    }

    @Test func `an invalid URL is reported as such, with or without a user`() throws {
        for url in ["http://exa mple/", "http:///", "ftp://x/"] {
            let run = try lab.fetch("-u", "me:secret", url)
            #expect(run.code == (url.hasPrefix("ftp") ? 1 : 3), "\(run)")
            #expect(run.error?.contains("credential") == false && !run.errors.contains("secret"))
        }
    }

    @Test func `user and password in the URL authenticate too, and are not shown`() throws {
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

    @Test func `a password prompt does not echo`() throws {
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

    @Test func `an interrupt ends the prompt, and restores the terminal's echo`() throws {
        let terminal = try PseudoTerminal()
        let tool = try lab.start(["-u", "Aladdin", "http://127.0.0.1:9/"], session: .own(terminal: terminal.path))
        _ = try terminal.read(until: "Password for Aladdin: ")
        terminal.type("\u{3}")
        #expect(try tool.exitCode() == 130)
        #expect(terminal.showsWhatIsTyped)
    }

    @Test func `a stopped prompt restores the terminal, and hides again what is typed after that`() throws {
        let server = try server()
        let session = try ShellSession(in: lab.namespace, ["fetch", "-u", "Aladdin", server.url()])
        _ = try session.terminal.read(until: "Password for Aladdin: ")
        session.terminal.type("\u{1A}")
        _ = try session.terminal.read(until: "was stopped")
        #expect(session.terminal.settings == session.before)
        session.terminal.type("\n")
        _ = try session.terminal.read(until: "Password for Aladdin: ")
        #expect(!session.terminal.showsWhatIsTyped)
        session.terminal.type("open sesame\n")
        let rest = try session.terminal.read(until: "ended with 0")
        #expect(!rest.contains("sesame"))
        #expect(credentials(of: server).last == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test func `without a terminal, the error names --password-file`() throws {
        let tool = try lab.start(["-u", "Aladdin", "http://127.0.0.1:9/"], session: .own(terminal: nil))
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains("give --password-file FILE") && errors.split(separator: "\n").count == 1, "\(errors)")
    }
}
