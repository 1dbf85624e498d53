import CNcurses
import Glibc
import NetwatchCore

/// What ncurses says of the keyboard, as the live view understands it (curs_getch(3X)).
enum KeyDecoder {
    /// A character, control characters among them; nil for what means nothing.
    static func character(_ code: wint_t) -> Key? {
        guard let scalar = Unicode.Scalar(code) else { return nil }
        switch code {
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x1B: return .escape
        case 0x01...0x1A: return Unicode.Scalar(code + 0x60).map { .control(Character($0)) }
        default: return scalar.isControl ? nil : .character(Character(scalar))
        }
    }

    /// A key of the keypad; nil for one that means nothing here.
    static func function(_ code: wint_t) -> Key? {
        keypad[Int32(bitPattern: code)]
    }

    private static let keypad: [Int32: Key] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right, KEY_HOME: .home, KEY_END: .end,
        KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown, KEY_ENTER: .enter, KEY_BACKSPACE: .backspace,
        KEY_DC: .backspace, KEY_A1: .home, KEY_A3: .pageUp, KEY_C1: .end, KEY_C3: .pageDown,
    ]
}
