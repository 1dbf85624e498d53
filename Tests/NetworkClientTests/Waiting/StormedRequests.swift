import HTTPLab
import HTTPTypes
import Locking
import NetworkClient
import NetworkLab

/// A request during a storm, with the properties that determine how often it may be processed.
struct StormedRequest: Sendable, Hashable {
    /// The kinds of requests.
    enum Kind: CaseIterable { case get, head, put, delete, post, patch, keyedPost }

    var kind: Kind
    /// Its unique number.
    var target: String

    /// Whether it may be processed more than once.
    var isRepeatable: Bool { kind != .post && kind != .patch }

    /// Makes it.
    func make(in session: HTTPSession) -> DataRequest {
        let body = RequestBody.bytes(Array(repeating: 0x62, count: 3_000))
        switch kind {
        case .get: return session.get(target)
        case .head: return session.head(target)
        case .put: return session.put(target, body: body)
        case .delete: return session.delete(target)
        case .post: return session.post(target, body: body)
        case .patch: return session.patch(target, body: body)
        case .keyedPost: return session.post(target, body: body, options: .init(idempotencyKey: .random))
        }
    }
}

/// Counts how often each request has finished, and what happened to it after that.
final class FinishCounter: EventMonitor {
    /// The events of a request.
    struct Seen: Sendable, Hashable {
        var finished = 0
        var eventsAfter = 0
    }

    private let seen = Lock<[UInt64: Seen]>([:])

    /// The events of all requests.
    var all: [Seen] { seen.withLock { Array($0.values) } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        // The result of the serializer follows the end.
        if case .serialized = event { return }
        seen.withLock { seen in
            if seen[request.id, default: Seen()].finished > 0 { seen[request.id, default: Seen()].eventsAfter += 1 }
            if case .finished = event { seen[request.id, default: Seen()].finished += 1 }
        }
    }
}

extension JournalServer.Entry {
    /// The responses during a storm: every fourth one is large and slow, so that responses are truncated too.
    var stormyResponse: [ServerStep] {
        guard method != "HEAD" else { return [.response()] }
        let number = target.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) }
        guard number % 4 == 0 else { return [.response("done")] }
        let text = String(repeating: "x", count: 60_000)
        return [
            .send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count + 20)\r\n\r\n\(text)"),
            .drip(Array("almost there, done.\n".utf8), every: .milliseconds(1)),
        ]
    }
}
