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
    func write() throws(ToolError) -> ExitStatus {
        var run = try run()
        do throws(OutputFailure) {
            if !isJSON { try put(destination.text.head) }
            let outcome = try outcome(&run) { (hop, name) throws(OutputFailure) in
                try put(isJSON ? TraceJSON.line(hop, name: name) : TraceText.line(hop, name: name))
            }
            try put(silent: outcome.silentHops)
            let sentence = sentence(outcome)
            try put(isJSON ? TraceJSON.line(outcome.verdict, destination.text, sentence: sentence) : sentence)
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

    private func put(silent hops: ClosedRange<Int>?) throws(OutputFailure) {
        guard let hops else { return }
        guard isJSON else { return try put(TraceText.line(silent: hops)) }
        for number in hops { try put(TraceJSON.line(TraceHop(number))) }
    }

    private func put(_ line: String) throws(OutputFailure) { try LineOutput.standard.write(line + "\n") }
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
