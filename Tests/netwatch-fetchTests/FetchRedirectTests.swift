import CommandLineLab
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchRedirectTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    /// A server that sends `/` to `/1`, that to `/2` and so on; `/3` is the end.
    private func server() throws -> ScriptedServer {
        let steps = (1...3).flatMap { number -> [ServerStep] in
            [.readRequest, .response("", status: "302 Found", headers: ["Location: /\(number)"])]
        }
        return try lab.server(steps + [.readRequest, .response("end")])
    }

    @Test func `redirects are not followed by default`() throws {
        let server = try server()
        let run = try lab.fetch("-i", server.url())
        #expect(run.code == 0 && run.output.hasPrefix("HTTP/1.1 302 Found\r\n"))
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test(arguments: [["-L"], ["--location"], ["--max-redirs", "3"], ["-L", "--max-redirs", "3"]])
    func `redirects are followed up to the limit`(options: [String]) throws {
        let tool = try lab.start(options + [server().url()])
        #expect(try tool.output.rest() == "end")
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: ["0", "2"])
    func `one redirect more than the limit is an error`(limit: String) throws {
        let run = try lab.fetch("-L", "--max-redirs", limit, server().url())
        #expect(run.code == 47 && run.output == "")
        #expect(run.error?.contains("--max-redirs allows more") == true, "\(run.errors)")
    }

    @Test(arguments: ["", "-1", "many"])
    func `an invalid limit`(text: String) throws {
        let run = try lab.fetch("--max-redirs=\(text)", "http://127.0.0.1:9/")
        #expect(run.code == 64)
        #expect(run.error?.contains("write a whole number") == true, "\(run.errors)")
    }
}
