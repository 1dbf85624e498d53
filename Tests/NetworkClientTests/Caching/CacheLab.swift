import HTTPLab
import Locking
import NetworkClientCore

@testable import NetworkClient

/// A server, a cache whose clock a test moves, and a session.
struct CacheLab {
    /// The place of the cache.
    enum Place: CaseIterable {
        case memory, folder
    }

    let server: AnsweringServer
    let cache: HTTPCache
    let session: HTTPSession
    let folder: LabFolder
    private let clock: Clock

    /// Seconds since 1970, which a test changes.
    final class Clock: Sendable {
        private let seconds = Lock<Int64>(1_767_225_600)

        var now: Int64 { seconds.withLock { $0 } }

        func advance(by duration: Int64) { seconds.withLock { $0 += duration } }
    }

    init(
        _ place: Place = .memory,
        limit: Int = 1 << 24,
        _ change: (inout HTTPConfiguration) -> Void = { _ in },
        respond: @escaping @Sendable (AnsweringServer.Request) -> [ServerStep]
    ) throws {
        let clock = Clock()
        self.clock = clock
        folder = try LabFolder()
        switch place {
        case .memory: cache = HTTPCache(CacheMemory(limit: limit), folder: nil, limit: limit) { clock.now }
        case .folder: cache = try HTTPCache(folder: "\(folder.path)/cache", limit: limit) { clock.now }
        }
        server = try AnsweringServer(respond: respond)
        var configuration = HTTPConfiguration(timeouts: .lasting, cache: cache)
        change(&configuration)
        session = try HTTPSession(baseURL: server.url, configuration: configuration)
    }

    func advance(by seconds: Int64) { clock.advance(by: seconds) }

    /// The body and the source of a response.
    func get(
        _ reference: String = "",
        _ headers: HTTPFields = [:],
        _ policy: CachePolicy? = nil
    ) async throws -> String {
        let options = RequestOptions(cachePolicy: policy)
        let response = try await session.get(reference, headers: headers, options: options).response()
        return "\(response.status) \(String(decoding: response.bytes, as: UTF8.self)) \(response.source)"
    }

    /// The methods and fields of the requests that the server received.
    func requests(_ name: String) -> [String] {
        server.requests.value.map { "\($0.method) \($0[name] ?? "-")" }
    }
}

extension ServerStep {
    /// A response that may be stored.
    static func cached(_ body: String, _ control: String = "max-age=10", _ headers: String...) -> [ServerStep] {
        [.response(body, headers: ["Cache-Control: \(control)"] + headers)]
    }

    static let notModified: [ServerStep] = [.send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=10\r\n\r\n")]
}
