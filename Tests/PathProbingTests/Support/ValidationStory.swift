import PathProbing
import ReachabilityCore
import ValidationCore

/// Plays events and time against a state, with a simulated network that answers its probes.
struct ValidationStory {
    private(set) var state: ValidationState
    private(set) var now = ValidationInstant.at(1_000)
    /// The answer of each endpoint, by its position; nil for silence.
    var network: (_ position: Int) -> ProbeOutcome? = { _ in .noContent }
    /// The reply of the portal's API; nil for silence.
    var portal: PortalReply?
    /// The prefixes that a name server reveals; nil for silence.
    var translators: [NAT64Prefix]?
    /// The time until an answer arrives.
    var latency = Duration.milliseconds(20)
    /// All actions, with their times.
    private(set) var actions: [(time: ValidationInstant, action: ValidationAction)] = []
    /// Called with each event or passage of time that was played, and the actions that followed.
    var observe: (_ input: Input, _ before: ValidationReport, _ actions: [ValidationAction], _ story: Self) -> Void = {
        _,
        _,
        _,
        _ in
    }
    private var answers: [(time: ValidationInstant, event: ValidationEvent)] = []

    /// What a state was given.
    enum Input {
        case event(ValidationEvent)
        case time
    }

    init(_ configuration: ValidationConfiguration) {
        state = .init(configuration, at: now)
    }

    init(_ endpoints: ValidationEndpoint...) { self.init(.init(endpoints: endpoints)) }

    var verdict: ValidationVerdict { state.report.verdict }

    /// The times of all probes, those of a portal's API and of a translator included.
    var probes: [ValidationInstant] { actions.filter(\.action.isProbe).map(\.time) }

    /// The number of queries for a translator.
    var translatorQueries: Int { actions.count { if case .findTranslator = $0.action { true } else { false } } }

    /// The published reports.
    var published: [ValidationReport] {
        actions.compactMap { if case .publish(let report) = $0.action { report } else { nil } }
    }

    /// The reports with which checks ended.
    var checks: [ValidationReport] {
        actions.compactMap { if case .endChecks(let report) = $0.action { report } else { nil } }
    }

    /// Plays an event now.
    mutating func play(_ event: ValidationEvent) {
        let before = state.report
        take(state.receive(event, at: now), .event(event), before)
    }

    /// Lets time pass; wake-ups and answers happen at their times.
    mutating func pass(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = nextTime, next <= end {
            now = max(now, next)
            if let position = answers.indices.min(by: { answers[$0].time < answers[$1].time }),
                answers[position].time <= now
            {
                play(answers.remove(at: position).event)
            } else {
                advance()
            }
        }
        now = end
        advance()
    }

    /// Lets time pass in which the process does not run; then it notices first that it is late, and gets the answers after that.
    mutating func stop(for duration: Duration) {
        now = now.advanced(by: duration)
        state.extendRound(at: now)
        advance()
        pass(.zero)
    }

    private var nextTime: ValidationInstant? {
        [answers.map(\.time).min(), state.wakeUp(after: now)].compactMap(\.self).min()
    }

    private mutating func advance() {
        let before = state.report
        take(state.advance(to: now), .time, before)
    }

    private mutating func take(_ new: [ValidationAction], _ input: Input, _ before: ValidationReport) {
        for action in new {
            actions.append((now, action))
            switch action {
            case .probe(let round, let position):
                guard let outcome = network(position) else { continue }
                answers.append((now.advanced(by: latency), .answered(round: round, position: position, outcome)))
            case .askPortal(let round, _):
                guard let portal else { continue }
                answers.append((now.advanced(by: latency), .portalReplied(round: round, portal)))
            case .findTranslator(let path):
                let time = now.advanced(by: translators == nil ? .seconds(5) : latency)
                answers.append((time, .translatorFound(path: path, translators)))
            case .cancel, .publish, .endChecks: break
            }
        }
        observe(input, before, new, self)
    }
}

extension ValidationAction {
    /// Whether it sends something.
    var isProbe: Bool {
        switch self {
        case .probe, .askPortal, .findTranslator: true
        case .cancel, .publish, .endChecks: false
        }
    }
}
