import CommandLineSupport
import NetwatchCore
import NetworkClient
import ReachabilityCore
import Synchronization

/// One request on its way, and the main thread's wait beside it.
struct FetchExchange {
    /// How it ended.
    enum Ending {
        /// With an answer, whatever its status.
        case answered(DataResponse)
        /// With an error.
        case failed(HTTPError)
        /// By a signal to this process.
        case signal(Int32)
    }

    /// What happens to it.
    let journal: FetchJournal
    /// How its progress is shown on stderr.
    let style: ProgressStyle
    /// Which way it is shown.
    let directions: Set<ProgressDirection>
    private let wakeup: Wakeup
    private let wait: MainWait

    /// Prepares one.
    init(
        signals: FetchSignals,
        isVerbose: Bool,
        style: ProgressStyle,
        directions: Set<ProgressDirection>
    ) throws(ToolError) {
        wakeup = try Wakeup()
        journal = FetchJournal(wakeup: wakeup, isVerbose: isVerbose)
        wait = MainWait(signals: signals.descriptor, wakeup: wakeup)
        // What is told line by line would be drawn over.
        self.style = isVerbose || directions.isEmpty ? .none : style
        self.directions = directions
    }

    /// Waits for a request's end, and tells what happens meanwhile.
    ///
    /// A signal cancels it; with a second one, its end is not waited for.
    func run(_ request: RequestHandle) throws(ToolError) -> Ending {
        let outcome = Outcome()
        request.response { [wakeup] ending in
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

    /// Sleeps until there is something to do; a signal's number if one came.
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
        // Where stderr can't be written there is nobody to tell.
        if !text.isEmpty { try? LineOutput.standardError.write(text) }
    }

    /// The ending, set on a thread of the library and read on the main thread.
    private final class Outcome: Sendable {
        private let kept = Mutex<Ending?>(nil)

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
