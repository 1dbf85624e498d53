import ReachabilityCore
import RequestGate

/// The key of a verdict: the destination of connections, and the requirement on their path.
///
/// With a proxy, the host is the proxy's: the path to the proxy decides, and the origin's name is not looked up here.
struct GateKey: Hashable, Sendable {
    /// The host in its ASCII form, lower case, without brackets; an address or a name.
    var host: String
    /// The port.
    var port: Int
    /// The path of a Unix socket, where one is used instead of host and port.
    var socketPath: String?
    /// The requirement on the path.
    var requirement: PathRequirement
    /// Whether the path must also be validated.
    var needsValidation = false

    /// Whether requests may have no path although there is a default path.
    var isRestricted: Bool { requirement != .any || needsValidation }
}

/// The condition that a request waits for, and why it does not hold.
struct GateWait: Hashable, Sendable {
    /// The kind of obstacle.
    var obstacle: GateObstacle
    /// The destination, and the requirement on the path.
    var key: GateKey
    /// Why there is no path.
    var reasons: [ReachabilityReason] = []
    /// The interfaces that can't be used, and why.
    var ruledOut: [RuledOutInterface] = []
    /// Whether a lookup of a path has failed: no change tells when the next one will succeed.
    var isForLookup = false
}

extension GateWait: CustomStringConvertible {
    /// The missing condition and the obstacles, in a few words: `a path to 203.0.113.7 that is not cellular (wwan0:
    /// path.notAllowed, wlan0: path.noCarrier)`.
    var description: String {
        switch obstacle {
        case .firstState: "the first state of the network\(details)"
        case .path: "a path to \(key.host)\(key.requirement.clause)\(details)"
        case .name: "the addresses of '\(key.host)'"
        case .nameServer: "a response from a name server for '\(key.host)'\(details)"
        case .validation: "the check whether the path leads to the internet"
        case .portal: "the login at the network's captive portal"
        case .internet: "a path to the internet: the current one does not lead there"
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
    /// The clause that follows 'a path to HOST'.
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
