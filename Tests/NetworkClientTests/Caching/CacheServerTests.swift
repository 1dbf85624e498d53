import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// A cache in front of Debian's nginx and Apache.
@Suite(.timeLimit(.minutes(5)))
struct CacheServerTests {
    private func session(_ url: String) throws -> (HTTPSession, LabFolder) {
        let folder = try LabFolder()
        let cache = try HTTPCache(folder: "\(folder.path)/cache")
        return (try HTTPSession(baseURL: url, configuration: .init(timeouts: .lasting, cache: cache)), folder)
    }

    private func sources(
        _ session: HTTPSession,
        _ path: String,
        _ policies: CachePolicy...
    ) async throws -> [ResponseSource] {
        var sources: [ResponseSource] = []
        for policy in policies {
            sources.append(try await session.get(path, options: .init(cachePolicy: policy)).response().source)
        }
        return sources
    }

    @Test(.enabled(if: Nginx.isInstalled, "\(Nginx.advice)"))
    func `nginx: fresh, validated, compressed, divided and streamed`() async throws {
        var options = Nginx.Options()
        options.directives = [
            "gzip_vary on;", "location /fresh { add_header Cache-Control max-age=1000; }",
            "location /private { add_header Cache-Control no-store; }",
            "location /old { add_header Last-Modified 'Wed, 01 Jan 2020 00:00:00 GMT'; return 200 'old'; }",
        ]
        let nginx = try Nginx(options)
        let text = String(repeating: "hello ", count: 40_000)
        for name in ["fresh.txt", "file.txt", "private.txt"] { try nginx.files.write(name, text) }
        let (session, folder) = try session("http://127.0.0.1:\(nginx.port)")
        #expect(try await sources(session, "/fresh.txt", .useProtocol, .useProtocol) == [.network, .cache])
        #expect(try await session.get("/fresh.txt").string() == text)
        #expect(try await sources(session, "/fresh.txt", .reloadRevalidating, .useProtocol) == [.validated, .cache])
        #expect(try await sources(session, "/file.txt", .useProtocol, .reloadRevalidating) == [.network, .validated])
        #expect(try await sources(session, "/private.txt", .useProtocol, .useProtocol) == [.network, .network])
        #expect(try await sources(session, "/old", .useProtocol) == [.network])
        let old = try await session.get("/old").response()
        #expect(old.source == .cache && old.hasEstimatedFreshness)
        // An uncompressed variant, of which parts are made.
        for source in [ResponseSource.network, .cache] {
            let path = "\(folder.path)/download"
            #expect(try await session.download("/fresh.txt", to: path).response().source == source)
            #expect(try FileBytes.read(path) == Array(text.utf8))
        }
        let part = try await session.get("/fresh.txt", headers: [.range: "bytes=6-10"]).response()
        #expect(part.status == 206 && part.source == .cache && part.bytes == Array("hello".utf8))
        let streamed = try await session.stream(.get, "/fresh.txt").response()
        #expect(streamed.source == .cache)
        #expect(try await streamed.body.collect(upTo: 1 << 20).readableBytes == text.utf8.count)
        try nginx.files.write("file.txt", "other")
        #expect(
            try await session.get("/file.txt", options: .init(cachePolicy: .reloadRevalidating)).string() == "other"
        )
        try nginx.stop()
        let stale = RequestOptions(cachePolicy: .useProtocolElseStale)
        #expect(try await session.get("/file.txt", options: stale).response().source == .stale(.unreachable))
    }

    @Test(.enabled(if: Apache.isInstalled, "\(Apache.advice)"))
    func `Apache: validated, divided, and stale when it is gone`() async throws {
        let apache = try Apache()
        let (session, folder) = try session(apache.url)
        defer { withExtendedLifetime(folder) {} }
        #expect(try await sources(session, "/file", .useProtocol, .reloadRevalidating) == [.network, .validated])
        let options = RequestOptions(cachePolicy: .returnCacheElseLoad)
        let identity: HTTPFields = [.acceptEncoding: "identity"]
        _ = try await session.get("/file", headers: identity).response()
        let part = try await session.get("/file", headers: [.range: "bytes=5-8"], options: options).response()
        #expect(part.status == 206 && part.bytes == Array("file".utf8))
        // Authorization without leave.
        let login = RequestOptions(credential: .init(user: "mufasa", password: "circle"))
        for _ in 1...2 {
            let response = try await session.get("/basic/file", options: login).response()
            #expect(response.status == 200 && response.source == .network)
        }
        try apache.stop()
        let stale = RequestOptions(cachePolicy: .useProtocolElseStale)
        #expect(try await session.get("/file", options: stale).response().source == .stale(.unreachable))
    }
}
