import HTTPLab
import Locking
import NIOCore
import NIOHTTP1
import Testing

@testable import NetworkClient

/// Stages besides the client's own.
@Suite(.timeLimit(.minutes(5)))
struct ExchangeStageTests {
    /// Records what it is called for.
    private final class Recorder: ExchangeStage {
        let calls: Observed<[String]>
        var defers = false
        var decision = ResponseDecision.proceed

        init(_ calls: Observed<[String]>) { self.calls = calls }

        private func note(_ call: String) { calls.update { $0.append(call) } }

        func mayDefer(_ request: RequestHandle) -> Bool { defers }

        func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
            let fields = ["Range", "X-Mark", "Authorization"].filter { head.headers.contains(name: $0) }
            note((["send \(head.uri)"] + fields).joined(separator: " "))
            head.headers.replaceOrAdd(name: "X-Stage", value: "now")
            guard defers else { return .ready }
            var later = head
            later.headers.replaceOrAdd(name: "X-Stage", value: "later")
            return .deferred { [later] () async throws(HTTPError) in later }
        }

        func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
            note("head \(head.status.code) of \(request.currentHost)")
            return .proceed
        }

        func bodyTap(_ head: HTTPResponseHead, _ request: RequestHandle) -> BodyTap? {
            { [calls] bytes in calls.update { $0.append("body \(bytes.readableBytes)") } }
        }

        func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
            note("response \(response.status)")
            return decision
        }

        func ended(_ error: HTTPError?, _ request: RequestHandle) { note("ended \(error?.code.rawValue ?? "-")") }
    }

    private func session(
        _ url: String,
        _ calls: Observed<[String]>,
        _ configuration: HTTPConfiguration = .lasting,
        change: @escaping @Sendable (Recorder) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = configuration
        configuration.makeStages = {
            let stage = Recorder(calls)
            change(stage)
            return [stage]
        }
        return try HTTPSession(baseURL: url, configuration: configuration)
    }

    @Test func `a stage is asked about each attempt, its response and the end`() async throws {
        let server = try RedirectLab.server()
        let calls = Observed<[String]>([])
        let session = try session(server.url, calls)
        #expect(try await session.get("302/to/b").string() == "here")
        try await calls.wait(for: "the end") { $0.last == "ended -" }
        let host = "127.0.0.1"
        #expect(
            calls.value == [
                "send /302/to/b", "head 302 of \(host)", "body 5", "response 302", "send /b", "head 200 of \(host)",
                "body 4", "response 200", "ended -",
            ]
        )
        #expect(server.requests.value.map { $0["X-Stage"] } == ["now", "now"])
    }

    @Test func `a tap gets the body as it arrives, still compressed`() async throws {
        let text = [UInt8](repeating: 97, count: 10_000)
        let packed = compressed(text)
        let server = try ScriptedServer(always: [
            .readRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"),
            .sendBytes(packed),
        ])
        let calls = Observed<[String]>([])
        let session = try session("http://127.0.0.1:\(server.port)/", calls)
        #expect(try await session.get("").bytes() == text)
        let sizes = calls.value.compactMap { call in call.hasPrefix("body ") ? Int(call.dropFirst(5)) : nil }
        #expect(sizes.reduce(0, +) == packed.count)
    }

    @Test func `a stage that defers is asked before the interceptors, and those before credentials`() async throws {
        let server = try AnsweringServer { _ in [.response("in")] }
        let calls = Observed<[String]>([])
        let marking = ClosureInterceptor.setting(.mark) { request, _ in
            let stage = request.headerFields.first { $0.name.rawName == "X-Stage" }?.value
            return "after \(stage ?? "-"), \(request.headerFields[.authorization] ?? "no credentials")"
        }
        let tokens = BearerTokens(for: server.url, token: "t") { _ in "t" }
        let configuration = HTTPConfiguration(
            timeouts: .lasting,
            interceptors: [marking],
            authentication: .init(tokens: [tokens])
        )
        let session = try session(server.url, calls, configuration) { $0.defers = true }
        #expect(try await session.get("a").string() == "in")
        #expect(calls.value.first == "send /a")
        #expect(server.requests.value.map { $0["X-Mark"] } == ["after later, no credentials"])
        #expect(server.requests.value.map { $0["Authorization"] } == ["Bearer t"])
    }

    @Test func `the first stage that decides on a response is the last that is asked`() async throws {
        let server = try RedirectLab.server()
        let session = try session(server.url, .init([])) { $0.decision = .end }
        #expect(try await session.get("302/to/b").response().status == 302)
        let failing = try self.session(server.url, .init([])) {
            $0.decision = .fail(.init(.invalidResponse, processing: .answered, reason: "not wanted"))
        }
        let error = await #expect(throws: HTTPError.self) { try await failing.get("b").response() }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `a stage is told the error of a request that fails`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .reset])
        let calls = Observed<[String]>([])
        let session = try session("http://127.0.0.1:\(server.port)/", calls)
        _ = await #expect(throws: HTTPError.self) { try await session.post("a").response() }
        #expect(calls.value == ["send /a", "ended connectionLost"])
    }
}
