package import ReachabilityCore

/// The contents of a screen: at most as many lines as it has rows, none wider than it has columns.
///
/// Nothing in it is ever obeyed by a terminal: control characters are written out, and each character that stays takes
/// the columns that ``TextWidth`` says.
package struct Frame: Sendable, Hashable {
    /// From the top; what is missing at the end, of a line too, is empty.
    package var lines: [StyledLine]
    /// The position of the terminal's cursor during input; hidden if nil.
    package var cursor: Cursor?
    /// When the frame changes without an input.
    ///
    /// It may be too early (the frame is the same then, but for this), never too late. The shell sleeps until then and
    /// hands in ``LiveViewInput/tick(_:)``. Nil for never.
    package var nextChange: Instant?

    /// Creates a frame.
    package init(lines: [StyledLine], cursor: Cursor? = nil, nextChange: Instant? = nil) {
        self.lines = lines
        self.cursor = cursor
        self.nextChange = nextChange
    }

    /// A place on the screen.
    package struct Cursor: Sendable, Hashable {
        /// Counted from 0 at the top.
        package var row: Int
        /// Counted from 0 at the left.
        package var column: Int

        /// Creates a place.
        package init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }
}

/// One line of a screen, as pieces of one style each.
package struct StyledLine: Sendable, Hashable {
    /// From the left.
    package var runs: [Run]

    /// Creates a line.
    package init(_ runs: [Run] = []) { self.runs = runs }

    /// A piece of text in one style.
    package struct Run: Sendable, Hashable {
        /// The text.
        package var text: String
        /// How it looks.
        package var style: Style

        /// Creates a piece.
        package init(_ text: String, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    /// The text without styles.
    package var text: String { runs.map(\.text).joined() }
}

/// How a piece of text looks; the shell knows with which attributes of the terminal.
package struct Style: Sendable, Hashable {
    /// The role, which decides about its color.
    package var role: Role
    /// Whether it is emphasized.
    package var isBold: Bool
    /// Whether its colors are exchanged with the background's, as the chosen line's are.
    package var isReversed: Bool

    /// Creates a style.
    package init(_ role: Role = .plain, isBold: Bool = false, isReversed: Bool = false) {
        self.role = role
        self.isBold = isBold
        self.isReversed = isReversed
    }

    /// Ordinary text.
    package static let plain = Self()

    /// The role of a piece of text.
    ///
    /// A role is never the only sign of what it says: where there is no color, the words and marks say the same.
    package enum Role: String, Sendable, Hashable, CaseIterable {
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
package struct ScreenSize: Sendable, Hashable {
    /// How many in a line.
    package var columns: Int
    /// How many lines.
    package var rows: Int

    /// Creates a size; what is negative counts as 0.
    package init(columns: Int, rows: Int) {
        self.columns = max(columns, 0)
        self.rows = max(rows, 0)
    }
}
