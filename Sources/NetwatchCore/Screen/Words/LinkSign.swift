import ReachabilityCore

/// What an interface's state comes to, in a word.
enum LinkSign: Sendable, Hashable {
    /// It can carry packets.
    case up
    /// It was set up, and has no carrier.
    case noCarrier
    /// Its carrier is there, and it waits for an event such as 802.1X.
    case dormant
    /// A WiFi interface is being associated.
    case associating
    /// It listens to the air and carries no packets of its own.
    case monitoring
    /// It was set down.
    case down
    /// The driver tests it, or it is not there.
    case absent

    init(_ link: Link, in snapshot: NetworkSnapshot) {
        guard link.flags.contains(.up) else {
            self = .down
            return
        }
        let wireless = snapshot.wireless[link.index]
        switch link.operationalState {
        case _ where link.hardwareType.isMonitor: self = .monitoring
        case _ where wireless?.isStation == true && wireless?.association == .associating: self = .associating
        case _ where link.canCarry: self = .up
        case .dormant: self = .dormant
        case .unknown where link.flags.contains(.dormant): self = .dormant
        case .testing, .notPresent: self = .absent
        default: self = .noCarrier
        }
    }

    /// The word.
    var word: String {
        switch self {
        case .up: "up"
        case .noCarrier: "no carrier"
        case .dormant: "dormant"
        case .associating: "associating"
        case .monitoring: "monitor"
        case .down: "down"
        case .absent: "absent"
        }
    }

    /// What decides about its colour: what is off by intention is not alarming.
    var role: Style.Role {
        switch self {
        case .up: .ok
        case .dormant, .associating: .warning
        case .noCarrier, .absent: .bad
        case .monitoring, .down: .dim
        }
    }

    /// Before the word.
    func mark(_ glyphs: Glyphs) -> String {
        switch self {
        case .up: glyphs.isASCII ? "+" : "●"
        case .dormant, .associating: glyphs.isASCII ? "~" : "◐"
        case .noCarrier, .absent: glyphs.isASCII ? "o" : "○"
        case .monitoring, .down: glyphs.isASCII ? "-" : "·"
        }
    }
}

extension OperationalState {
    /// As ip-link(8) has it, in lower case.
    var word: String {
        switch self {
        case .unknown: "unknown"
        case .notPresent: "not present"
        case .down: "down"
        case .lowerLayerDown: "lower down"
        case .testing: "testing"
        case .dormant: "dormant"
        case .up: "up"
        }
    }
}
