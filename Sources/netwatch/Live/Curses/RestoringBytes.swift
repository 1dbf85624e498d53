import CNcurses
import Glibc

/// What leaves a terminal as it was before ncurses, for when ncurses can't do so any more: terminfo(5).
enum RestoringBytes {
    /// The bytes for the terminal that is set up.
    static func make(_ curses: netwatch_curses, hasMouse: Bool) -> [UInt8] {
        var bytes = Array((hasMouse ? "\u{1B}[?1000l" : "").utf8)
        // No attributes, the keypad as it was, the cursor, the screen that was there before.
        for name in ["sgr0", "op", "rmkx", "cnorm"] { bytes += capability(name, curses) }
        let leave = capability("rmcup", curses)
        return bytes + (leave.isEmpty ? Array("\r\n".utf8) : leave)
    }

    /// A capability without its pauses, which terminals need no more.
    private static func capability(_ name: String, _ curses: netwatch_curses) -> [UInt8] {
        // Both nil and -1 say that there is none.
        guard let text = curses.tigetstr(name), Int(bitPattern: text) != -1 else { return [] }
        return withoutPadding(String(cString: text))
    }

    /// Removes `$<5/>` and its like.
    static func withoutPadding(_ text: String) -> [UInt8] {
        var rest = Array(text.utf8)[...]
        var kept: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "$"), rest.first == UInt8(ascii: "<"),
                let end = rest.firstIndex(of: UInt8(ascii: ">"))
            else {
                kept.append(byte)
                continue
            }
            rest = rest[(end + 1)...]
        }
        return kept
    }
}
