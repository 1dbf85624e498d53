package import ReachabilityCore

/// The characters of which pictures are made, each one column wide.
package struct Glyphs: Sendable, Hashable {
    let isASCII: Bool

    /// Creates the characters.
    ///
    /// - Parameter isASCII: Whether only ASCII can be shown.
    package init(isASCII: Bool) { self.isASCII = isASCII }

    /// Stands where text was cut.
    var ellipsis: String { isASCII ? "~" : "…" }
    /// From an interface to its gateway.
    package var arrow: String { isASCII ? "->" : "→" }
    /// Between two statements.
    package var separator: String { isASCII ? " | " : " · " }
    /// Before the interface of the path, and before the part of the screen that the keys move.
    var pointer: String { isASCII ? ">" : "▸" }
    /// Before the interface that carries another.
    var beneath: String { isASCII ? "'" : "└" }
    /// A recording is being made.
    var record: String { isASCII ? "*" : "●" }
    /// From one row to another.
    package var range: String { isASCII ? "-" : "–" }
    /// Up and down.
    package var arrows: String { isASCII ? "jk" : "↑↓" }

    /// Before a state's word.
    package func mark(_ status: ReachabilityStatus) -> String {
        switch status {
        case .wifi: isASCII ? "+" : "●"
        case .cellular: isASCII ? "~" : "▲"
        case .notReachable: isASCII ? "x" : "✗"
        case .unknown: "?"
        }
    }

    /// One cell of the timeline.
    func cell(_ status: ReachabilityStatus?) -> String {
        switch status {
        case .wifi?: isASCII ? "#" : "█"
        case .cellular?: isASCII ? "=" : "▄"
        case .notReachable?: isASCII ? "x" : "✗"
        case .unknown?: isASCII ? "?" : "░"
        case nil: isASCII ? "." : "·"
        }
    }

    /// One bar of traffic; nil before the first.
    func bar(_ level: UInt8?) -> String {
        guard let level else { return " " }
        let bars = isASCII ? Self.asciiBars : Self.blockBars
        return bars[min(Int(level), bars.count - 1)]
    }

    private static let blockBars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let asciiBars = ["_", ".", ":", "-", "=", "+", "*", "#"]
}

extension ReachabilityStatus {
    /// The state in words.
    package var word: String { self == .notReachable ? "not reachable" : name }

    /// The role, which decides about its color.
    package var role: Style.Role {
        switch self {
        case .wifi: .ok
        case .cellular: .warning
        case .notReachable: .bad
        case .unknown: .unknown
        }
    }
}

/// The condition of an interface, in a word.
package enum LinkSign: Sendable, Hashable {
    /// It can carry packets.
    case up
    /// It was set up, and has no carrier.
    case noCarrier
    /// Its carrier is there, and it waits for an event such as 802.1X.
    case dormant
    /// A Wi-Fi interface is being associated.
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
        let wireless = snapshot.devices.wireless[link.index]
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
    package var word: String {
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

    /// The role, which decides about its color: a link that is off intentionally is not alarming.
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
