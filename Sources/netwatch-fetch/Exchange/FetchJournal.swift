import CommandLineSupport
import NetworkClient
import ReachabilityCore
import Synchronization

/// Notes what happens to the request, on the session's event loop, for the main thread to tell.
final class FetchJournal: EventMonitor {
    private let state = Mutex(State())
    private let wakeup: Wakeup
    private let isVerbose: Bool
    private let start = SystemClock.now

    private struct State {
        var lines: [String] = []
        var figures = MetricsText()
        var progress = FetchProgress()
    }

    /// Makes an empty one; only a verbose one makes lines, and wakes the main thread for them.
    init(wakeup: Wakeup, isVerbose: Bool) {
        self.wakeup = wakeup
        self.isVerbose = isVerbose
    }

    /// Takes an event.
    func request(_ request: RequestHandle, did event: RequestEvent) {
        let lines = isVerbose ? VerboseText.lines(event, of: request) : []
        state.withLock { state in
            state.lines += lines
            switch event {
            case .attempt(_, let isReused, let connection):
                state.figures.connection = connection
                state.figures.isReused = isReused
                state.progress = .init()
            case .head(let response): state.figures.status = response.status.code
            case .received(let count, let expected):
                state.figures.received = count
                state.progress.received = .init(bytes: count, total: expected)
            case .sending(let count, let length):
                state.progress.sent = .init(bytes: count, total: length.map { Int(clamping: $0) })
            case .waiting, .waitingForConnectivity, .paused, .resumed, .sent, .sentAgain, .retrying, .pathLost,
                .gaveUp, .redirected, .authenticating, .finished:
                break
            }
        }
        if !lines.isEmpty { wakeup.signal() }
    }

    /// The lines since the last time, which are then forgotten.
    func takeLines() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    /// How far the request's body is, and the answer's.
    var progress: FetchProgress { state.withLock { $0.progress } }

    /// What is known by now.
    var figures: MetricsText {
        var figures = state.withLock { $0.figures }
        figures.total = .nanoseconds(SystemClock.now.nanoseconds - start.nanoseconds)
        return figures
    }
}
