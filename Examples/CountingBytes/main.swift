import NIOCore
import NIOHTTP1
import NetworkClient

// Counts the bytes of response bodies by host: `CountingBytes URL...`. A stage is `package`: this program is part of it.

/// Counts what arrives, and prints the counts at each request's end.
final class ByteCounter: ExchangeStage {
    private var counts: [String: Int] = [:]

    func bodyTap(_ head: HTTPResponseHead, _ request: RequestHandle) -> BodyTap? {
        let host = request.currentHost
        return { [self] bytes in counts[host, default: 0] += bytes.readableBytes }
    }

    func ended(_ error: HTTPError?, _ request: RequestHandle) {
        print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
    }
}

var configuration = HTTPConfiguration()
configuration.makeStages = { [ByteCounter()] }
let session = try HTTPSession(configuration: configuration)
for url in CommandLine.arguments.dropFirst() { _ = try await session.get(url).response() }
