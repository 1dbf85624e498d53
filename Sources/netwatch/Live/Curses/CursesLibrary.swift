import CNcurses

/// The functions of ncurses, found when the live view opens.
enum CursesLibrary {
    /// Finds them.
    ///
    /// - Throws: What is missing.
    static func load() throws(TerminalUnfit) -> netwatch_curses {
        var functions = netwatch_curses()
        if let missing = netwatch_curses_load(&functions) {
            throw .init("\(String(cString: missing)) is missing; install the package libncursesw6")
        }
        return functions
    }
}

/// Why the live view can't be shown on a terminal, where that was to be expected; lines are printed instead.
struct TerminalUnfit: Error, Hashable {
    /// What is the matter, and what to do about it; nil where it is as the user has it.
    let words: String?

    init(_ words: String?) { self.words = words }
}
