import NetwatchCore
import ReachabilityCore

extension SilenceCause {
    /// The cause in words.
    package var words: String {
        switch self {
        case .unknown: "unknown until its events arrive"
        case .noPath(let reasons): "no path" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
        case .brokerNotReachable: "path usable, broker not reachable"
        case .machineOff: "machine off"
        case .suspended: "machine suspended"
        case .notRunning: "netwatch not running"
        case .stopped: "forwarder stopped"
        }
    }
}

extension Presence {
    /// The state whose mark and color it has.
    private var likeness: ReachabilityStatus {
        switch self {
        case .online: .wifi
        case .silent: .notReachable
        case .unknown: .unknown
        }
    }

    var role: Style.Role { likeness.role }

    func mark(_ glyphs: Glyphs) -> String { glyphs.mark(likeness) }
}

extension NodeStatus {
    /// The current fault of a machine, or one of the last 24 h, in words; empty if there is none.
    package var whyWords: String {
        switch (presence, state) {
        case (.silent, _): return silence?.cause.words ?? ""
        case (.unknown, _): return isKnown ? "no message says whether it is connected" : "never reported"
        case (.online, .notReachable): return SilenceCause.noPath(reasons).words
        case (.online, _) where isLimited: return validation?.verdict.words ?? ""
        case (.online, _) where isFlapping: return "flapping"
        case (.online, _) where backlog > 0: return "\(backlog) events to come"
        case (.online, _): return past
        }
    }

    /// The last silence, if it has ended.
    private var past: String {
        guard let silence, let end = silence.end else { return "" }
        let length = end.nanosecondsSinceEpoch - silence.start.nanosecondsSinceEpoch
        let cause = silence.cause == .unknown ? "why is unknown" : silence.cause.words
        return "was silent \(DurationText.length(.nanoseconds(length))): \(cause)"
    }

    /// Since when the condition lasts that is shown: the silence, or the state.
    var shownSince: Timestamp? { presence == .silent ? silence?.start : presence == .online ? since : nil }
}

extension FleetTotals {
    /// The worst condition, whose mark and color the summary has.
    var worst: ReachabilityStatus {
        if nodes == unheard { return .unknown }
        return reachable == nodes ? .wifi : .notReachable
    }

    /// The summary: `2 of 50 not reachable`, `all 50 reachable`.
    var headline: String {
        switch (nodes, nodes - reachable) {
        case (0, _): "no machine has reported"
        case (let all, _) where all == unheard: "none of \(all) machines has reported"
        case (let all, 0): "all \(all) reachable"
        case (let all, let number): "\(number) of \(all) not reachable"
        }
    }

    /// The numbers behind it.
    var details: [(text: String, role: Style.Role)] {
        let counts: [(Int, String, Style.Role)] = [
            (silent, "silent", .bad), (notReachable, "without a network", .bad),
            (unknown - unheard, "unknown", .unknown),
            (nodes == unheard ? 0 : unheard, "never reported", .unknown), (flapping, "flapping", .warning),
        ]
        return counts.compactMap { $0.0 > 0 ? ("\($0.0) \($0.1)", $0.2) : nil }
    }
}
