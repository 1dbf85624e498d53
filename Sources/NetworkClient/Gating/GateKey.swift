import ReachabilityCore
import RequestGate

/// What is judged together: where connections lead, and what their path must be.
///
/// The host is the proxy's, where one is in use: its way counts, and the origin's name is not looked up here.
struct GateKey: Hashable, Sendable {
    /// The host in its ASCII form, lower case, without brackets; an address or a name.
    var host: String
    /// The port.
    var port: Int
    /// The path of a Unix socket, where one is used instead of host and port.
    var socketPath: String?
    /// What the path must be.
    var requirement: PathRequirement
}

/// What a request waits for, and why it has to.
struct GateWait: Hashable, Sendable {
    /// What is missing.
    var obstacle: GateObstacle
    /// Where it wants to go, and by which paths it may.
    var key: GateKey
    /// Why there is no path.
    var reasons: [ReachabilityReason] = []
    /// What speaks against which interface.
    var ruledOut: [RuledOutInterface] = []
}

extension GateWait: CustomStringConvertible {
    /// What is waited for, in a few words, with what is in the way: `a path to 203.0.113.7 that is not cellular
    /// (wwan0: path.notAllowed, wlan0: path.noCarrier)`.
    var description: String {
        switch obstacle {
        case .firstState: "the first state of the network\(details)"
        case .path: "a path to \(key.host)\(key.requirement.clause)\(details)"
        case .name: "the addresses of '\(key.host)'"
        case .nameServer: "a name server that answers for '\(key.host)'\(details)"
        }
    }

    private var details: String {
        let parts =
            ruledOut.isEmpty
            ? reasons.map(\.rawValue) : ruledOut.map { "\($0.interface.name): \($0.reason.rawValue)" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

extension PathRequirement {
    /// What it adds to 'a path'.
    fileprivate var clause: String {
        switch self {
        case .any: ""
        case .notCellular: " that is not cellular"
        case .wifi: " by WiFi"
        case .notExpensive: " that is not expensive"
        case .interface(let name): " through \(name)"
        }
    }
}
