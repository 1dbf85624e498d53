import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import NetworkClient

/// Requests that are cancelled at random times, in any state.
@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), .timeLimit(.minutes(10)))
struct CancelStormTests {
    /// The outcomes of the requests.
    private struct Tally: Sendable {
        var answered = 0
        var cancelled = 0
        var others: [String] = []
    }

    @Test(arguments: [false, true])
    func `a session stays usable while requests are cancelled at random times`(isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let folder = try LabFolder()
        var options = Nginx.Options()
        options.certificate = try authority.issue().write(to: folder)
        let nginx = try Endurance.nginx(options)
        let base = isSecure ? "https://127.0.0.1:\(nginx.securePort)/" : "http://127.0.0.1:\(nginx.port)/"
        let session = try HTTPSession(
            baseURL: base,
            configuration: .init(timeouts: .lasting, tls: try .trusting(authority))
        )
        let tally = await withTaskGroup(of: Tally.self) { group in
            for worker in 0..<16 { group.addTask { await storm(session, worker) } }
            return await group.reduce(into: Tally()) { sum, part in
                sum.answered += part.answered
                sum.cancelled += part.cancelled
                sum.others += part.others
            }
        }
        #expect(tally.others == [], "seed \(Endurance.seed)")
        #expect(tally.cancelled > 0)
        #expect(session.requests.isEmpty)
        // As many requests as allowed connections: no connection was lost.
        let responses = (0..<6).map { _ in session.get("large.bin", options: .init(timeouts: .lasting))
        }
        for response in responses { #expect(try await response.bytes().count == 1_000_000) }
        let core = session.core
        #expect(try await core.loop.submit { core.pools.connectionCount }.get() <= 6)
        session.invalidate()
    }

    /// Makes requests one after the other, and cancels each after a random time, by its task or by its handle.
    private func storm(_ session: HTTPSession, _ worker: Int) async -> Tally {
        var generator = SeededGenerator(seed: Endurance.seed &* 1000 &+ UInt64(worker))
        let timers = MultiThreadedEventLoopGroup.singleton
        var tally = Tally()
        for _ in 0..<Endurance.cancels / 16 {
            let request = makeRequest(session, .random(in: 0..<3, using: &generator))
            let task = Task { try await request.response().status }
            let delay = TimeAmount.microseconds(.random(in: 0..<3000, using: &generator))
            let byTask = Bool.random(using: &generator)
            let timer = timers.next().scheduleTask(in: delay) { byTask ? task.cancel() : request.cancel() }
            switch await task.result {
            case .success(200): tally.answered += 1
            case .failure(let error as HTTPError) where error.code == .cancelled: tally.cancelled += 1
            case let other: tally.others.append("\(other)")
            }
            timer.cancel()
        }
        return tally
    }

    private func makeRequest(_ session: HTTPSession, _ kind: Int) -> DataRequest {
        switch kind {
        case 0: session.get("small.txt")
        case 1: session.get("large.bin")
        default: session.post("accept", body: .bytes([UInt8](repeating: 0x62, count: 200_000)))
        }
    }
}
