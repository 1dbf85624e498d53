import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// A trace to one address, carried out on the thread that creates it.
struct TraceRun {
    private let sockets: ProbeSockets
    private var machine: TraceStateMachine
    private var queue: HopQueue
    private let wakeup: Wakeup

    /// Prepares a trace, and moves the calling thread into the network namespace.
    ///
    /// - Parameters:
    ///   - target: The destination and the packets.
    ///   - settings: How far to go.
    ///   - deadline: When the trace ends in any case.
    ///   - namespace: The network namespace in which packets are sent.
    ///   - names: The names of the hops; nil if they are not asked for.
    ///   - wakeup: Told when a name is known.
    /// - Throws: An error with a text for the user, if the namespace cannot be entered.
    init(
        to target: TraceTarget,
        _ settings: TraceSettings,
        until deadline: Instant,
        in namespace: NetworkNamespace,
        names: HopNames? = nil,
        wakeup: Wakeup
    ) throws(ToolError) {
        sockets = try ToolError.wrapping(try ProbeSockets(to: target, in: namespace))
        machine = TraceStateMachine(to: target.address, settings, deadline: deadline)
        queue = HopQueue(names: names)
        self.wakeup = wakeup
    }

    /// The result of a trace.
    struct Outcome {
        /// The finding on how far packets come.
        var verdict: TraceVerdict
        /// The hops at the end of the path that did not answer.
        var silentHops: ClosedRange<Int>?
        /// The sender of a reply that probes were too big.
        var narrowing: TraceHop.Narrowing?
    }

    /// Sends probes until the trace has ended.
    ///
    /// - Parameter show: Called for each hop, in their order, as soon as it is known.
    /// - Returns: The result.
    /// - Throws: The error of `show`.
    mutating func run<Failure>(
        _ show: (_ hop: TraceHop, _ name: String?) throws(Failure) -> Void
    ) throws(Failure) -> Outcome {
        while true {
            let now = SystemClock.now
            while let (hop, name) = queue.next(at: now) { try show(hop, name) }
            switch machine.next(at: now) {
            case .send(let probe):
                if let outcome = sockets.send(probe) { machine.receive(outcome, to: probe, at: now) }
            case .report(let hop): queue.append(hop, at: now)
            case .wait(let end): receive(until: end)
            case .finish(let verdict) where queue.isEmpty:
                return .init(verdict: verdict, silentHops: machine.silentHops, narrowing: machine.narrowing)
            case .finish: waitForName()
            }
        }
    }

    /// Waits for answers, or for the name of a hop.
    private mutating func receive(until end: Instant) {
        for arrival in sockets.wait(until: min(end, queue.deadline ?? end), or: wakeup) {
            machine.receive(arrival.outcome, to: arrival.probe, at: arrival.instant)
        }
    }

    private func waitForName() {
        guard let end = queue.deadline else { return }
        wakeup.wait(until: end)
        wakeup.clear()
    }
}
