import CommandLineLab
import HTTPLab
import Locking
import NetworkLab
import Testing

@Suite struct FetchRetryTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    private static let busy = ServerStep.response("busy", status: "503 Service Unavailable")

    /// A server whose first responses differ from the later ones.
    private func server(first: [ServerStep], then steps: [ServerStep]) throws -> ScriptedServer {
        let count = Lock(0)
        return lab.keep(
            try ScriptedServer(in: lab.namespace) { _ in
                count.withLock { count in
                    count += 1
                    return [.readRequest] + (count == 1 ? first : steps) + [.close]
                }
            }
        )
    }

    @Test func `a retryable status is retried`() throws {
        let server = try server(first: [Self.busy], then: [.response("done")])
        let run = try lab.fetch("--retry", "3", "-v", server.url())
        #expect(run.code == 0 && run.output == "done")
        #expect(server.connections.count == 2)
        #expect(run.errors.contains(" answered 503 Service Unavailable; retries in "))
        #expect(run.errors.contains(": the status allows a retry\n"))
        #expect(run.errors.contains("\n* attempt 2\n"))
    }

    @Test func `after the last attempt its response is the result`() throws {
        let server = try server(first: [Self.busy], then: [Self.busy])
        let run = try lab.fetch("--retry", "1", "--fail", "-v", server.url())
        #expect(run.code == 22 && run.output == "")
        #expect(server.connections.count == 2)
        #expect(run.errors.contains("\n* does not retry: all attempts were made\n"))
    }

    @Test func `without --retry nothing is tried twice`() throws {
        for options in [[], ["--retry", "0"]] {
            let server = try server(first: [Self.busy], then: [.response("done")])
            let tool = try lab.start(options + [server.url()])
            #expect(try tool.output.rest() == "busy")
            #expect(try tool.exitCode() == 0)
            #expect(server.connections.count == 1)
        }
    }

    @Test func `a request that may have been processed is not retried, unless it has a key`() throws {
        let server = try server(first: [], then: [.response("done")])
        let run = try lab.fetch("--retry", "3", "-v", "-d", "x", server.url())
        #expect(run.code == 52)
        #expect(server.connections.count == 1)
        #expect(run.errors.contains("\n* does not retry: it may have been processed, and is not idempotent\n"))
        let other = try self.server(first: [], then: [.response("done")])
        #expect(try lab.fetch("--retry", "3", "-d", "x", "-H", "Idempotency-Key: k", other.url()).output == "done")
        let heads = other.connections.flatMap(\.requests).map(\.head)
        #expect(heads.count == 2 && heads.allSatisfy { $0.contains("\r\nIdempotency-Key: k\r\n") })
    }

    @Test func `a refused connection`() throws {
        let run = try lab.fetch("--retry", "2", "-v", "http://127.0.0.1:1/")
        #expect(run.code == 7)
        #expect(run.errors.split(separator: "\n").count { $0.contains("nothing was sent") } == 2)
    }

    @Test func `the largest number there is`() throws {
        #expect(try lab.fetch("--retry", "18446744073709551615", lab.server(answering: "ok").url()).output == "ok")
    }
}
