import Dispatch
import HTTPLab
import Locking
import Testing

@testable import NetworkClient

/// Requests that are waited for together.
@Suite(.timeLimit(.minutes(5)))
struct RequestBatchTests {
    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: .lasting))
    }

    /// A call of a batch's closures.
    private enum Call: Hashable {
        case progress(Int, Int)
        case completion(Int)
    }

    private static func calls(of requests: [RequestHandle], on queue: DispatchQueue? = nil) async -> [Call] {
        let calls = Lock<[Call]>([])
        await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
            _ = RequestBatch(requests, on: queue) { finished, total in
                calls.withLock { $0.append(.progress(finished, total)) }
            } completion: { requests in
                calls.withLock { $0.append(.completion(requests.count)) }
                done.resume()
            }
        }
        return calls.withLock { $0 }
    }

    @Test func `each result is reported, and the completion last`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let requests = (0..<20).map { session.get("\($0)", options: .init(startsAtOnce: $0 % 2 == 0)) }
        #expect(await Self.calls(of: requests) == (1...20).map { .progress($0, 20) } + [.completion(20)])
    }

    @Test func `a batch of none is complete`() async { #expect(await Self.calls(of: []) == [.completion(0)]) }

    @Test func `requests that have already ended count as well`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let ended = session.get("")
        _ = try await ended.response()
        let requests = [ended, session.get("http://"), session.get("more")]
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        #expect(await Self.calls(of: requests, on: queue) == (1...3).map { .progress($0, 3) } + [.completion(3)])
        let codes = await RequestBatch(requests).endings().map { ending -> HTTPError.Code? in
            if case .failure(let error) = ending { error.code } else { nil }
        }
        #expect(codes == [nil, .invalidURL, nil])
    }

    @Test func `cancelling the waiting task cancels all requests`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try Self.session(server)
        let requests = (0..<3).map { session.get("\($0)") }
        let task = Task { await RequestBatch(requests).endings() }
        task.cancel()
        for ending in await task.value {
            guard case .failure(let error) = ending else {
                throw HTTPError(.cancelled, processing: .answered, reason: "not cancelled")
            }
            #expect(error.code == .cancelled)
        }
    }
}
