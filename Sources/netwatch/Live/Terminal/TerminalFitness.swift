import NetwatchCore

/// Whether a terminal can show the live view, as far as its name says.
enum TerminalFitness {
    /// Gives the terminal's type, if it may be able to.
    ///
    /// - Parameter type: What the terminal calls itself (TERM; see environ(7)).
    /// - Returns: The type, for terminfo(5).
    /// - Throws: If not; without words for a terminal that says it can only write lines.
    static func type(_ type: String?) throws(TerminalUnfit) -> String {
        switch type {
        case nil, "": throw .init("TERM is not set; set it to the terminal's type, such as xterm-256color")
        case "dumb"?: throw .init(nil)
        case let type?: return type
        }
    }

    /// What to do about a type that ncurses does not know, or that can't move the cursor.
    static func unknown(_ type: String) -> TerminalUnfit {
        let name = type.prefix(40).escapedForTerminal
        return .init("the terminal type '\(name)' is unknown or too simple; set TERM, or install ncurses-term")
    }
}
