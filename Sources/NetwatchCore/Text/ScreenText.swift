extension StringProtocol {
    /// The text as a screen can show it, whatever it holds, each scalar in as many columns as ``TextWidth`` says.
    ///
    /// Control characters are written out (``escapedForTerminal``). What has no look of its own is left out: joiners,
    /// variation selectors and skin tones, so that emoji stand side by side. What no terminal knows is shown as U+FFFD,
    /// a mark without a character before it on a dotted circle; of several marks, two stay.
    ///
    /// With `asASCII`, everything else than ASCII is written out too: `\u{e9}`.
    func shownOnScreen(asASCII: Bool) -> String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(self) }
        if asASCII { return unicodeScalars.map { $0.isPlainASCII ? String($0) : $0.writtenOut }.joined() }
        var shown = String.UnicodeScalarView()
        var marks = 0
        var hasBase = false
        for scalar in unicodeScalars {
            if scalar.isControl {
                shown.append(contentsOf: scalar.writtenOut.unicodeScalars)
                (marks, hasBase) = (0, true)
            } else if TextWidth.isMark(scalar), !scalar.isInvisible {
                guard marks < Unicode.Scalar.maximumMarks else { continue }
                if !hasBase { shown.append("\u{25CC}") }
                shown.append(scalar)
                (marks, hasBase) = (marks + 1, true)
            } else if !scalar.isInvisible, !(hasBase && scalar.isSkinTone) {
                shown.append(scalar.isUnknown ? "\u{FFFD}" : scalar)
                (marks, hasBase) = (0, true)
            }
        }
        return String(shown)
    }
}

extension Unicode.Scalar {
    /// How many marks a character keeps: a cell of ncurses holds a few (`CCHARW_MAX`), and more hide what they mark.
    fileprivate static let maximumMarks = 2

    fileprivate var isPlainASCII: Bool { (0x20..<0x7F).contains(value) }

    /// `\u{1b}`.
    fileprivate var writtenOut: String { "\\u{" + String(value, radix: 16) + "}" }

    /// Variation selectors, and characters that only control how others are joined or laid out.
    fileprivate var isInvisible: Bool {
        switch value {
        case 0xFE00...0xFE0F, 0xE_0100...0xE_01EF, 0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0: true
        default: properties.generalCategory == .format
        }
    }

    /// U+1F3FB to U+1F3FF, which alter the emoji before them.
    fileprivate var isSkinTone: Bool { (0x1_F3FB...0x1_F3FF).contains(value) }

    /// Not assigned, or for private use.
    fileprivate var isUnknown: Bool {
        switch properties.generalCategory {
        case .unassigned, .privateUse, .surrogate: true
        default: false
        }
    }
}
