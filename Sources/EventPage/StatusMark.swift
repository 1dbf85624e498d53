import NetwatchCore
import ReachabilityCore

/// The shapes that stand for the states next to their words, so that no state is told by its color alone.
enum StatusMark {
    /// The shapes, and the pattern of outages in the timeline, to which the markup refers.
    static let definitions = """
        <svg class="definitions" aria-hidden="true"><defs>
        <symbol id="mark-wifi" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7"/></symbol>
        <symbol id="mark-cellular" viewBox="0 0 16 16"><path d="M8 1 15.5 14.5H.5z"/></symbol>
        <symbol id="mark-notReachable" viewBox="0 0 16 16"><path d="M3.5 1 8 5.5 12.500 1 15 3.500 10.500 8 15 12.500 \
        12.500 15 8 10.500 3.500 15 1 12.500 5.500 8 1 3.500z"/></symbol>
        <symbol id="mark-unknown" viewBox="0 0 16 16"><path fill-rule="evenodd" d="M8 .5 15.500 8 8 15.500 .5 8zM8 4 4 8l4 \
        4 4-4z"/></symbol>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6"/><path d="M0 0v6"/></pattern>
        </defs></svg>
        """

    /// The mark and the word of a state.
    static func labelled(_ status: ReachabilityStatus) -> HTML { "\(mark(status)) \(status.word)" }

    /// The mark of a state.
    static func mark(_ status: ReachabilityStatus) -> HTML {
        "<svg class=\"mark\" aria-hidden=\"true\"><use href=\"#mark-\(status.name)\"/></svg>"
    }
}

extension ReachabilityStatus {
    /// The icon of the page's tab: the mark on its color.
    var icon: String {
        let (color, shape) =
            switch self {
            case .wifi: ("12824a", "<circle cx='8' cy='8' r='7'/>")
            case .cellular: ("b87200", "<path d='M8 1 15.500 14.500H.5z'/>")
            case .notReachable:
                ("c62828", "<path stroke='%23c62828' stroke-width='4' d='M2.500 2.500l11 11m0-11l-11 11'/>")
            case .unknown: ("6b7280", "<path d='M8 .5 15.500 8 8 15.500 .5 8z'/>")
            }
        return "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='%23\(color)'>"
            + shape + "</svg>"
    }
}
