import Glibc
import NetworkClient

/// Fills the folder of a cache, opens it, and looks responses up.
///
/// Usage: `cache-client fill|start|find FOLDER ENTRIES`. Prints seconds for each entry that is stored, for the start, or for half
/// and 99 % of the lookups.
@main
enum CacheClient {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]), count > 0 else {
            fatalError("usage: cache-client fill|start|find FOLDER ENTRIES")
        }
        switch arguments[1] {
        case "fill": try await fill(arguments[2], count)
        case "start": try await start(arguments[2])
        default: try await find(arguments[2], count)
        }
    }

    /// A limit that is not reached.
    private static let limit = 64 << 30

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func session(_ cache: HTTPCache) throws -> HTTPSession {
        try HTTPSession(configuration: .init(transport: Origin(), cookies: .never, cache: cache))
    }

    private static func fill(_ folder: String, _ count: Int) async throws {
        let cache = try HTTPCache(folder: folder, limit: limit)
        let session = try session(cache)
        let begin = now
        try await withThrowingTaskGroup { group in
            for part in 0..<16 {
                group.addTask {
                    for number in stride(from: part, to: count, by: 16) {
                        _ = try await session.get("http://origin/\(number)").response()
                    }
                }
            }
            try await group.waitForAll()
        }
        cache.flush()
        print((now - begin) / Double(count))
    }

    private static func start(_ folder: String) async throws {
        let begin = now
        let cache = try HTTPCache(folder: folder, limit: limit)
        let opened = now
        _ = try await session(cache).get("http://origin/0", options: .init(cachePolicy: .returnCacheDontLoad))
            .response()
        print(opened - begin, now - begin)
    }

    private static func find(_ folder: String, _ count: Int) async throws {
        let session = try session(HTTPCache(folder: folder, limit: limit))
        let options = RequestOptions(cachePolicy: .returnCacheDontLoad)
        var times: [Double] = []
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<count)
            let begin = now
            let response = try await session.get("http://origin/\(number)", options: options).response()
            times.append(now - begin)
            guard response.buffer.readableBytes == 1_024 else { fatalError("a wrong response") }
        }
        times.sort()
        print(times[times.count / 2], times[times.count / 100 * 99])
    }
}

/// A server in this process.
private struct Origin: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let fields: HTTPFields = [.cacheControl: "max-age=1000000"]
        return .init(head: .init(status: .ok, headerFields: fields), body: [UInt8](repeating: 120, count: 1_024))
    }
}
