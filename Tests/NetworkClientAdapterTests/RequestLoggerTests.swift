import HTTPLab
import InMemoryLogging
import Logging
import NetworkClient
import NetworkClientObservability
import Testing

/// Entries of a log in memory.
@Suite(.timeLimit(.minutes(5)))
struct RequestLoggerTests {
    /// Returns the entries of some requests, in order, at a level.
    private func entries(_ level: Logger.Level) async throws -> [InMemoryLogHandler.Entry] {
        let memory = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in memory }
        logger.logLevel = level
        let server = try AdapterLab.server()
        let session = try AdapterLab.session(server) { [logger] in $0.eventMonitors = [RequestLogger(logger)] }
        _ = try await session.get("busy?secret=1").string()
        _ = try await session.get("redirect").string()
        _ = try? await session.get("close", options: .init(retry: .never)).response()
        await session.shutdown(within: .seconds(60))
        return memory.entries
    }

    @Test func `retries and failures are logged at the default level`() async throws {
        let entries = try await entries(.info)
        #expect(entries.map { "\($0.message)" } == ["request will be retried", "request failed"])
        #expect(entries.map(\.level) == [.info, .error])
        #expect(entries.first?.metadata["request.id"] == "1")
        #expect(entries.first?.metadata["http.method"] == "GET")
    }

    @Test func `the tag of a request and the resumption of a download are logged`() async throws {
        let memory = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in memory }
        logger.logLevel = .debug
        let server = try AdapterLab.server()
        let session = try AdapterLab.session(server) { _ in }
        let request = session.get("busy", options: .init(startsAtOnce: false, tag: "photos"))
        let monitor = RequestLogger(logger)
        monitor.request(request, did: .resumedDownload(at: 5, of: 10))
        monitor.request(session.get("busy", options: .init(startsAtOnce: false)), did: .resumedDownload(at: 5, of: nil))
        let entries = memory.entries
        #expect(entries.map { "\($0.message)" } == ["download is resumed", "download is resumed"])
        #expect(entries.map { $0.metadata["request.tag"] } == ["photos", nil])
        #expect(entries.map { $0.metadata["offset"] } == ["5", "5"])
        #expect(entries.map { $0.metadata["total"] } == ["10", "unknown"])
        session.invalidate(.cancellingRequests)
    }

    @Test func `no level shows a query`() async throws {
        let entries = try await entries(.trace)
        #expect(entries.contains { $0.message == "attempt begins" })
        #expect(entries.contains { $0.message == "request is redirected" })
        #expect(!entries.contains { "\($0.message) \($0.metadata)".contains("secret") })
        let url = entries.first?.metadata["url"].map { "\($0)" }
        #expect(url?.hasSuffix("/busy") == true)
    }
}
