import HTTPLab
import NetworkClient
import Testing

/// Options other than the defaults.
@Suite(.timeLimit(.minutes(5)))
struct RequestOptionsTests {
    @Test func `a body that can't be held in memory is refused, whatever the limit`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\na"),
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/")
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(maximumBodySize: .max)).response()
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(
            error?.reason == """
                the response's body is larger than the 4294967295 bytes that maximumBodySize allows in memory (5000000000 bytes \
                were announced): download it to a file, or read it as a stream
                """
        )
    }

    @Test func `options that disable a feature are set, rather than left to the session`() {
        let options = RequestOptions(binding: .unbound, gate: .startsImmediately, retry: .never, proxy: .direct)
        #expect(options.binding != nil && options.gate != nil && options.retry != nil && options.proxy != nil)
        #expect(RequestOptions(redirects: .refuse).redirects != nil)
    }
}
