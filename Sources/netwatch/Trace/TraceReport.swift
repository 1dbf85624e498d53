import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// A trace, and what is written about it.
struct TraceReport {
    /// The destination.
    let destination: TraceDestination
    /// The network namespace in which packets are sent.
    let namespace: NetworkNamespace
    /// When the trace ends in any case.
    let deadline: Instant
    /// Told when the name of a hop is known.
    let wakeup: Wakeup
    /// Whether to write JSON Lines.
    var isJSON = false
    /// The names of the hops; nil if they are not asked for.
    var names: HopNames?

    /// Traces, and writes a line for each hop as it is known, and one with the result.
    ///
    /// - Returns: The status of the result, also if stdout is closed before.
    func write() throws(ToolError) -> ExitStatus {
        var run = try run()
        var output = TraceOutput()
        do throws(OutputFailure) {
            if !isJSON { try output.write(destination.text.head) }
            let outcome = try outcome(&run) { (hop, name) throws(OutputFailure) in
                try output.write(isJSON ? TraceJSON.line(hop, name: name) : TraceText.line(hop, name: name))
            }
            try write(silent: outcome.silentHops, to: &output)
            let sentence = sentence(outcome)
            try output.write(isJSON ? TraceJSON.line(outcome.verdict, destination.text, sentence: sentence) : sentence)
            return ExitStatus(of: outcome.verdict)
        } catch {
            return try error.end(writing: "stdout")
        }
    }

    /// Traces, and returns the sentence with the result.
    func sentence() throws(ToolError) -> (text: String, status: ExitStatus) {
        var run = try run()
        let outcome = outcome(&run) { _, _ in }
        return (sentence(outcome), ExitStatus(of: outcome.verdict))
    }

    private func run() throws(ToolError) -> TraceRun {
        try TraceRun(
            to: destination.target,
            destination.text.settings,
            until: deadline,
            in: namespace,
            names: names,
            wakeup: wakeup
        )
    }

    /// Traces, unless the route alone decides.
    private func outcome<Failure>(
        _ run: inout TraceRun,
        _ show: (TraceHop, String?) throws(Failure) -> Void
    ) throws(Failure) -> TraceRun.Outcome {
        if let verdict = destination.verdict { return .init(verdict: verdict) }
        return try run.run(show)
    }

    private func sentence(_ outcome: TraceRun.Outcome) -> String {
        destination.text.sentence(outcome.verdict, narrowing: outcome.narrowing) { SystemError(code: $0).description }
    }

    private func write(silent hops: ClosedRange<Int>?, to output: inout TraceOutput) throws(OutputFailure) {
        guard let hops else { return }
        guard isJSON else { return try output.write(TraceText.line(silent: hops)) }
        for number in hops { try output.write(TraceJSON.line(TraceHop(number))) }
    }
}

/// The lines of a trace on stdout, until that is closed.
private struct TraceOutput {
    private var isClosed = false

    /// Writes a line, unless stdout is closed.
    mutating func write(_ line: String) throws(OutputFailure) {
        guard !isClosed else { return }
        do throws(OutputFailure) {
            try LineOutput.standard.write(line + "\n")
        } catch {
            guard error == .closed else { throw error }
            isClosed = true
        }
    }
}

extension ExitStatus {
    /// How `trace` exits.
    init(of verdict: TraceVerdict) {
        switch verdict.isReached {
        case true?: self = .success
        case false?: self = .notReachable
        case nil: self = .unknown
        }
    }
}
