import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import NetworkClient
import ReachabilityCore

/// A running request, for which the main thread waits.
struct FetchExchange {
    /// How it ended.
    enum Ending {
        /// With a response, whatever its status.
        case answered(DataResponse)
        /// With an error.
        case failed(HTTPError)
        /// By a signal to this process.
        case signal(Int32)
    }

    /// The journal of its events.
    let journal: FetchJournal
    /// How its progress is shown on stderr.
    let style: ProgressStyle
    /// The directions whose progress is shown.
    let directions: Set<ProgressDirection>
    private let wakeup: Wakeup
    private let wait: MainWait

    /// Prepares a request.
    init(
        signals: FetchSignals,
        isVerbose: Bool,
        style: ProgressStyle,
        directions: Set<ProgressDirection>
    ) throws(ToolError) {
        wakeup = try Wakeup.open()
        journal = FetchJournal(wakeup: wakeup, isVerbose: isVerbose)
        wait = MainWait(signals: signals.descriptor, wakeup: wakeup)
        // Progress would overwrite verbose lines.
        self.style = isVerbose || directions.isEmpty ? .none : style
        self.directions = directions
    }

    /// Waits for a request's end, and shows its events and progress meanwhile.
    ///
    /// A signal cancels the request; after a second one, its end is not awaited.
    func run(_ request: RequestHandle) throws(ToolError) -> Ending {
        let outcome = Outcome()
        request.whenEnded { [wakeup] ending in
            outcome.set(ending)
            wakeup.signal()
        }
        var display = ProgressDisplay(style, directions)
        defer { display.end() }
        var signal: Int32?
        while true {
            let ending = outcome.ending
            display.draw(journal.progress)
            if ending != nil { display.end() }
            tellLines()
            if let ending { return signal.map(Ending.signal) ?? ending }
            guard let number = try next(until: display.deadline) else { continue }
            request.cancel()
            guard signal == nil else { return .signal(number) }
            signal = number
        }
    }

    /// Sleeps until there is an event; returns a signal's number if one was received.
    private func next(until deadline: Instant?) throws(ToolError) -> Int32? {
        do throws(SystemError) {
            if case .signal(let signal) = try wait.next(until: deadline) { return signal.number }
            return nil
        } catch {
            throw error.toolError("wait for events")
        }
    }

    private func tellLines() {
        let text = journal.takeLines().map { $0.escapedForTerminal + "\n" }.joined()
        // If stderr can't be written, the error can't be reported either.
        if !text.isEmpty { try? LineOutput.standardError.write(text) }
    }

    /// The ending, set on a thread of the library and read on the main thread.
    private final class Outcome: Sendable {
        private let kept = Lock<Ending?>(nil)

        var ending: Ending? { kept.withLock { $0 } }

        func set(_ result: Result<DataResponse, HTTPError>) {
            kept.withLock { kept in
                switch result {
                case .success(let response): kept = .answered(response)
                case .failure(let error): kept = .failed(error)
                }
            }
        }
    }
}

/// Records the request's events on the session's event loop, for the main thread to print.
final class FetchJournal: EventMonitor {
    private let state = Lock(State())
    private let wakeup: Wakeup
    private let isVerbose: Bool
    private let start = SystemClock.now

    private struct State {
        var lines: [String] = []
        var figures = MetricsText()
        var progress = FetchProgress()
    }

    /// Creates an empty journal; only a verbose one records lines, and wakes the main thread for them.
    init(wakeup: Wakeup, isVerbose: Bool) {
        self.wakeup = wakeup
        self.isVerbose = isVerbose
    }

    /// Records an event.
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
            case .waiting: state.progress.activity = .connection
            case .waitingForConnectivity, .pathLost: state.progress.activity = .path
            case .retrying: state.progress.activity = .retry
            case .paused, .resumed, .sent, .sentAgain, .resumedDownload,
                .gaveUp, .redirected, .authenticating, .finished, .serialized:
                break
            }
        }
        if !lines.isEmpty { wakeup.signal() }
    }

    /// Returns the lines since the previous call.
    func takeLines() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    /// The progress of both bodies.
    var progress: FetchProgress { state.withLock { $0.progress } }

    /// The figures so far.
    var figures: MetricsText {
        var figures = state.withLock { $0.figures }
        figures.total = .nanoseconds(SystemClock.now.nanoseconds - start.nanoseconds)
        return figures
    }
}

/// The signals that end a request in order, so that nothing half-written is left.
struct FetchSignals {
    /// The descriptor that receives them.
    let descriptor: SignalDescriptor

    /// Blocks the signals; must be called before any other thread starts.
    ///
    /// Ignored signals stay ignored, as nohup(1) requires.
    init() throws(ToolError) {
        let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !SignalActions.isIgnored($0) }
        do throws(SystemError) { descriptor = try .init(ending) } catch { throw error.toolError("wait for signals") }
    }
}
