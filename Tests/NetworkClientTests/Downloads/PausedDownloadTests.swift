import HTTPLab
import Locking
import NetworkClient
import NetworkLab
import Testing

/// Downloads that are paused and resumed.
@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), .timeLimit(.minutes(5)))
struct PausedDownloadTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `a download that is paused a hundred times is the file`(seed: UInt64) async throws {
        let (lab, nginx) = (try DownloadLab(), try Nginx())
        let entity = DownloadLab.entity(64 << 20)
        try nginx.files.write("large", entity)
        let pauses = Pauses(100, seed: seed)
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(nginx.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [pauses])
        )
        let file = try await session.download("large", to: lab.path, options: .init(isSynced: false)).response().file
        #expect(pauses.count == 100)
        #expect(file.isResumed)
        #expect(lab.file == entity)
        #expect(lab.names == ["file"])
    }

    @Test func `a file that changes on the server between pause and resume is downloaded completely`() async throws {
        let (lab, nginx) = (try DownloadLab(), try Nginx())
        let old = DownloadLab.entity(16 << 20)
        let new = DownloadLab.entity((16 << 20) + 1, seed: 2)
        try nginx.files.write("large", old)
        let pauses = Pauses(1, seed: 3)
        pauses.whenPaused.withLock { action in
            action = { _ in _ = try? nginx.files.write("large", new) }
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(nginx.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [pauses])
        )
        let file = try await session.download("large", to: lab.path).response().file
        #expect(pauses.count == 1)
        #expect(!file.isResumed)
        #expect(lab.file == new)
    }

    @Test func `a download paused before its start completes when resumed; one paused and cancelled keeps its part`()
        async throws
    {
        let (lab, nginx) = (try DownloadLab(), try Nginx())
        let entity = DownloadLab.entity(16 << 20)
        try nginx.files.write("large", entity)
        let pauses = Pauses(1, seed: 4, from: 1_000_000)
        pauses.whenPaused.withLock { action in
            // Nothing has been received if it is paused before it starts.
            action = { if pauses.count == 1 { $0.cancel() } }
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(nginx.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [pauses])
        )
        let waiting = session.download("large", to: lab.path, options: .init(request: .init(startsAtOnce: false)))
        waiting.pause()
        waiting.resume()
        waiting.resume()
        let error = await #expect(throws: HTTPError.self) { try await waiting.response() }
        #expect(error?.code == .cancelled)
        let file = try await session.download("large", to: lab.path).response().file
        #expect(file.resumedFrom >= 1_000_000)
        #expect(lab.file == entity)
    }
}

/// Pauses and resumes a download at random bytes, a number of times.
private final class Pauses: EventMonitor {
    let whenPaused = Lock<@Sendable (RequestHandle) -> Void>({ _ in })
    private let state: Lock<State>

    private struct State {
        var random: SeededGenerator
        var left: Int
        var count = 0
        var next: Int
        var isPausing = false
    }

    init(_ count: Int, seed: UInt64, from first: Int = 1) {
        state = .init(.init(random: .init(seed: seed), left: count, next: first))
    }

    var count: Int { state.withLock { $0.count } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .received(let bytes, _) where isTime(bytes): request.pause()
        case .paused:
            whenPaused.withLock { $0 }(request)
            request.resume()
        case .resumed: state.withLock { $0.isPausing = false }
        default: break
        }
    }

    private func isTime(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.left > 0, !state.isPausing, bytes >= state.next else { return false }
            state.left -= 1
            state.count += 1
            state.isPausing = true
            state.next = bytes + Int.random(in: 1...100_000, using: &state.random)
            return true
        }
    }
}
