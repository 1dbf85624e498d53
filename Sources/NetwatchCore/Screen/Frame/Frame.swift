public import ReachabilityCore

/// The contents of a screen: at most as many lines as it has rows, none wider than it has columns.
///
/// Nothing in it is ever obeyed by a terminal: control characters are written out, and each character that stays takes
/// the columns that ``TextWidth`` says.
public struct Frame: Sendable, Hashable {
    /// From the top; what is missing at the end, of a line too, is empty.
    public var lines: [StyledLine]
    /// Where the terminal's cursor stands while something is typed; hidden if nil.
    public var cursor: Cursor?
    /// When the frame changes by time alone.
    ///
    /// It may be too early (the frame is the same then, but for this), never too late. The shell sleeps until then and
    /// hands in ``LiveViewInput/tick(_:)``. Nil for never.
    public var nextChange: Instant?

    /// Creates a frame.
    public init(lines: [StyledLine], cursor: Cursor? = nil, nextChange: Instant? = nil) {
        self.lines = lines
        self.cursor = cursor
        self.nextChange = nextChange
    }

    /// A place on the screen.
    public struct Cursor: Sendable, Hashable {
        /// Counted from 0 at the top.
        public var row: Int
        /// Counted from 0 at the left.
        public var column: Int

        /// Creates a place.
        public init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }
}

/// One line of a screen, as pieces of one style each.
public struct StyledLine: Sendable, Hashable {
    /// From the left.
    public var runs: [Run]

    /// Creates a line.
    public init(_ runs: [Run] = []) { self.runs = runs }

    /// A piece of text in one style.
    public struct Run: Sendable, Hashable {
        /// The text.
        public var text: String
        /// How it looks.
        public var style: Style

        /// Creates a piece.
        public init(_ text: String, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    /// The text without styles.
    public var text: String { runs.map(\.text).joined() }
}

/// How a piece of text looks; the shell knows with which attributes of the terminal.
public struct Style: Sendable, Hashable {
    /// The role, which decides about its color.
    public var role: Role
    /// Whether it stands out.
    public var isBold: Bool
    /// Whether its colors are exchanged with the background's, as the chosen line's are.
    public var isReversed: Bool

    /// Creates a style.
    public init(_ role: Role = .plain, isBold: Bool = false, isReversed: Bool = false) {
        self.role = role
        self.isBold = isBold
        self.isReversed = isReversed
    }

    /// Ordinary text.
    public static let plain = Self()

    /// The role of a piece of text.
    ///
    /// A role is never the only sign of what it says: where there is no color, the words and marks say the same.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// Ordinary text.
        case plain
        /// Reachable, up: green.
        case ok
        /// Reachable at a cost, or waiting for something: yellow.
        case warning
        /// Not reachable, failed: red.
        case bad
        /// Not known: magenta or grey.
        case unknown
        /// Secondary text: dim.
        case dim
        /// The headings of the screen's parts.
        case heading
        /// The keys of the last line and of the help.
        case key
        /// Traffic's little pictures: blue or cyan.
        case graph
    }
}

/// How many characters fit on the screen.
public struct ScreenSize: Sendable, Hashable {
    /// How many in a line.
    public var columns: Int
    /// How many lines.
    public var rows: Int

    /// Creates a size; what is negative counts as 0.
    public init(columns: Int, rows: Int) {
        self.columns = max(columns, 0)
        self.rows = max(rows, 0)
    }
}
