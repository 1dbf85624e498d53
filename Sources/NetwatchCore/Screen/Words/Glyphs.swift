import ReachabilityCore

/// The characters of which pictures are made, each one column wide.
struct Glyphs: Sendable, Hashable {
    let isASCII: Bool

    /// Stands where text was cut.
    var ellipsis: String { isASCII ? "~" : "…" }
    /// From an interface to its gateway.
    var arrow: String { isASCII ? "->" : "→" }
    /// Between two statements.
    var separator: String { isASCII ? " | " : " · " }
    /// Before the interface of the path, and before the part of the screen that the keys move.
    var pointer: String { isASCII ? ">" : "▸" }
    /// Before the interface that carries another.
    var beneath: String { isASCII ? "'" : "└" }
    /// A recording is being made.
    var record: String { isASCII ? "*" : "●" }
    /// From one row to another.
    var range: String { isASCII ? "-" : "–" }
    /// Up and down.
    var arrows: String { isASCII ? "jk" : "↑↓" }

    /// Before a state's word.
    func mark(_ status: ReachabilityStatus) -> String {
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
