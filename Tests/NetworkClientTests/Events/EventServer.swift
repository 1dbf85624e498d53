import HTTPLab
import Locking

@testable import NetworkClient

/// Event streams as scripts of servers.
enum EventServer {
    /// The head of a stream that ends with the connection.
    static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    /// A response that ends the sequence.
    static let noContent = ServerStep.response(status: "204 No Content", headers: ["Connection: close"])

    /// Reads a request, and sends a stream up to the end of the connection.
    static func stream(_ text: String) -> [ServerStep] { [.readRequest, .send(head + text)] }

    /// Returns the bytes of numbered events after the one that a request names, and the number of these events.
    ///
    /// Each has its number as ID and data.
    static func events(after request: ServerRecord.Request, count: Int) -> [UInt8] {
        let last = request.field("Last-Event-ID").flatMap { Int($0) } ?? 0
        return (0..<count).flatMap { Array("id:\(last + $0 + 1)\ndata:\(last + $0 + 1)\n\n".utf8) }
    }
}

extension ServerSentEvents {
    /// The same sequence without delays between connections.
    var withoutDelay: Self {
        var copy = self
        copy.pause = { _ in try? await Task.sleep(for: .milliseconds(1)) }
        return copy
    }

    /// Reads all events up to the end.
    func all() async throws(HTTPError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for try await event in self { events.append(event) }
        return events
    }
}

/// The delays of a sequence, which are recorded instead of waited for.
final class RecordedDelays: Sendable {
    private let delays = Lock<[Duration]>([])

    /// The delays so far.
    var all: [Duration] { delays.withLock { $0 } }

    /// Returns a sequence whose delays are recorded.
    func record(_ events: ServerSentEvents) -> ServerSentEvents {
        var events = events
        events.pause = { [self] pause in delays.withLock { $0.append(pause.delay) } }
        return events
    }
}

/// Counts how often requests of a session have reported that they wait for connectivity.
final class WaitCounter: EventMonitor {
    /// The number so far.
    let waits = Observed(0)

    func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .waitingForConnectivity, .pathLost: waits.update { $0 += 1 }
        default: break
        }
    }
}
