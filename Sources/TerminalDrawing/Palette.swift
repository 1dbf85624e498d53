import CNcurses
import NetwatchCore

/// With which attributes of the terminal each kind of text is shown (curs_attr(3X)).
struct Palette {
    /// Attributes and the number of a pair of colors.
    struct Look: Hashable {
        var attributes: attr_t
        var pair: Int16
    }

    /// How many colors there are; 0 for none.
    private let colors: Int32

    /// Defines the pairs of colors.
    ///
    /// - Parameters:
    ///   - curses: A screen is set up.
    ///   - isColored: Whether colors are wanted.
    init(_ curses: netwatch_curses, isColored: Bool) {
        let colors = isColored ? curses.tigetnum("colors") : 0
        // Text of no kind, and the background, are the terminal's own.
        guard colors >= 8, curses.start_color() == OK, curses.use_default_colors() == OK else {
            self.colors = 0
            return
        }
        self.colors = colors
        for role in Style.Role.allCases {
            guard let color = Self.color(role, of: colors) else { continue }
            _ = curses.init_pair(Self.pair(role), color, -1)
        }
    }

    /// How a piece of text looks.
    func look(_ style: Style) -> Look {
        var attributes: attr_t = 0
        let hasColor = Self.color(style.role, of: colors) != nil
        if style.isBold || style.role == .heading { attributes |= netwatch_bold }
        if style.isReversed { attributes |= netwatch_reverse }
        if style.role == .dim, !hasColor, !style.isReversed { attributes |= netwatch_dim }
        if !hasColor, [.ok, .bad, .warning, .key].contains(style.role) { attributes |= netwatch_bold }
        return .init(attributes: attributes, pair: hasColor ? Self.pair(style.role) : 0)
    }

    /// The first pair is the terminal's own colors.
    private static func pair(_ role: Style.Role) -> Int16 {
        Int16(1 + (Style.Role.allCases.firstIndex(of: role) ?? 0))
    }

    /// The color of a kind; of the first eight, which the user's theme defines, where one fits.
    private static func color(_ role: Style.Role, of count: Int32) -> Int16? {
        guard count >= 8 else { return nil }
        return switch role {
        case .plain, .heading: nil
        case .ok: Int16(COLOR_GREEN)
        case .warning: Int16(COLOR_YELLOW)
        case .bad: Int16(COLOR_RED)
        case .unknown: Int16(COLOR_MAGENTA)
        case .key, .graph: Int16(COLOR_CYAN)
        // A grey that shows on light and on dark; the bright black of sixteen colors is some themes' background.
        case .dim: count >= 256 ? 244 : nil
        }
    }
}
