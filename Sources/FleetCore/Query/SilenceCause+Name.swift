extension SilenceCause {
    /// The cause without its reasons, as filters, groups and JSON name it.
    package var name: String {
        switch self {
        case .unknown: "unknown"
        case .noPath: "noPath"
        case .brokerNotReachable: "brokerNotReachable"
        case .machineOff: "machineOff"
        case .suspended: "suspended"
        case .notRunning: "notRunning"
        case .stopped: "stopped"
        }
    }
}

extension NodeStatus {
    /// Why the machine was, or is, not connected, without reasons; `none` if it was connected for 24 h.
    package var why: String { silence?.cause.name ?? "none" }
}
