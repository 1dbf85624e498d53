import CNcurses

/// How the mouse's wheel is heard without taking the mouse away from whoever wants to mark text with it.
enum WheelMode: Hashable {
    /// The terminal turns it into the arrow keys (DECSET 1007 of xterm), and keeps the rest of the mouse for itself.
    case arrows
    /// The program is told of the mouse's buttons; text is marked with shift held down.
    case buttons

    /// What suits a type of terminal: those that stand between a program and a terminal know no arrows.
    init(terminal type: String) {
        self = type.hasPrefix("tmux") || type.hasPrefix("screen") ? .buttons : .arrows
    }

    /// What is written to begin.
    ///
    /// - Parameter keeps: Whether what the terminal does now is what it is to do afterwards (XTSAVE).
    /// - Returns: The bytes.
    func begin(keeps: Bool) -> [UInt8] {
        self == .arrows ? Array("\(keeps ? "\u{1B}[?1007s" : "")\u{1B}[?1007h".utf8) : []
    }

    /// What is written to end: the terminal does what it did before (XTRESTORE).
    ///
    /// Many have this mode on from the beginning, and other programs expect it; those that can't restore it keep it on.
    var end: [UInt8] { self == .arrows ? Array("\u{1B}[?1007r".utf8) : [] }
}
