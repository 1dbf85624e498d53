import CLinux
import CNcurses
import CommandLineSupport
import Glibc
import LinuxSystem
package import NetwatchCore

/// The terminal's screen while a view has it (ncurses(3X)); ncurses redraws only what changed.
///
/// Confined to the main thread, as ncurses is.
package final class CursesScreen {
    /// How many characters fit.
    package private(set) var size: ScreenSize
    private let device: TerminalDevice
    private let curses: netwatch_curses
    private let screen: OpaquePointer
    private let window: UnsafeMutablePointer<WINDOW>
    private let buffer: DrawingBuffer
    private let keyboard: UnsafeMutablePointer<FILE>
    private let palette: Palette
    private let wheel: WheelMode
    private let isASCII: Bool
    /// The terminal's settings while the view is shown.
    private let drawingSettings: termios
    /// The lines on the screen; nil for a row in an unknown state.
    private var shown: [StyledLine?] = []
    private var cursor: Frame.Cursor?
    private var hasLeft = false

    /// Takes the screen over.
    ///
    /// - Parameters:
    ///   - device: The terminal.
    ///   - type: Its type, for terminfo(5).
    ///   - isColored: Whether colors are wanted.
    ///   - isASCII: Whether it shows only ASCII.
    /// - Throws: Why this terminal cannot show the view; its settings are as before then.
    package init(_ device: TerminalDevice, type: String, isColored: Bool, isASCII: Bool) throws(TerminalUnfit) {
        let curses = try CursesLibrary.load()
        let buffer: DrawingBuffer
        do throws(SystemError) { buffer = try .init(device) } catch { throw .init("\(error)") }
        guard let keyboard = Self.keyboard(device) else { throw .init("\(SystemError.last)") }
        // The size is the terminal's own, and not for ncurses to ask for: it cannot count beyond 32,767.
        curses.use_env(false)
        guard let screen = curses.newterm(type, buffer.file, keyboard) else {
            fclose(keyboard)
            throw TerminalFitness.unknown(type)
        }
        self.device = device
        self.curses = curses
        self.buffer = buffer
        self.keyboard = keyboard
        self.screen = screen
        self.isASCII = isASCII
        wheel = .init(terminal: type)
        size = device.size
        guard Self.canMoveCursor(curses), let window = curses.newwin(0, 0, 0, 0) else {
            Self.restore(curses, device)
            curses.delscreen(screen)
            fclose(keyboard)
            throw TerminalFitness.unknown(type)
        }
        self.window = window
        palette = .init(curses, isColored: isColored)
        drawingSettings = Self.prepare(curses, window, device)
        do throws(SystemError) { try buffer.detach() } catch {
            // All properties are set, so that `deinit` frees the screen.
            Self.restore(curses, device)
            throw .init("\(error)")
        }
        begin(keepsWheel: true)
    }

    deinit {
        curses.delscreen(screen)
        fclose(keyboard)
    }
}

// MARK: - Drawing

extension CursesScreen {
    /// Draws a frame; false if the terminal is closed.
    package func draw(_ frame: Frame) -> Bool {
        for row in 0..<size.rows {
            let line = row < frame.lines.count ? frame.lines[row] : StyledLine()
            if shown[row] != line { draw(line, at: row) }
            shown[row] = line
        }
        show(frame.cursor)
        _ = curses.wnoutrefresh(window)
        _ = curses.doupdate()
        return flush()
    }

    /// Writes the output of ncurses, as far as the terminal accepts it; false if the terminal is closed.
    package func flush() -> Bool { device.write(buffer.take()) }

    /// Redraws everything with the next frame, at the size that the terminal has then.
    package func invalidate() {
        size = device.size
        _ = curses.resizeterm(Int32(size.rows), Int32(size.columns))
        _ = curses.wresize(window, Int32(size.rows), Int32(size.columns))
        _ = curses.clearok(window, true)
        _ = curses.werase(window)
        shown = .init(repeating: nil, count: size.rows)
    }

    private func draw(_ line: StyledLine, at row: Int) {
        _ = curses.wmove(window, Int32(row), 0)
        _ = curses.wattr_set(window, 0, 0, nil)
        _ = curses.wclrtoeol(window)
        for run in line.runs {
            let look = palette.look(run.style)
            _ = curses.wattr_set(window, look.attributes, look.pair, nil)
            let text = isASCII ? String(run.text.map { $0.isASCII ? $0 : "?" }) : run.text
            // The last column of the last line is written too; ncurses then reports that the cursor cannot advance.
            _ = curses.waddnstr(window, text, -1)
        }
    }

    private func show(_ cursor: Frame.Cursor?) {
        if (cursor == nil) != (self.cursor == nil) {
            _ = curses.leaveok(window, cursor == nil)
            _ = curses.curs_set(cursor == nil ? 0 : 1)
        }
        self.cursor = cursor
        if let cursor { _ = curses.wmove(window, Int32(cursor.row), Int32(cursor.column)) }
    }
}

// MARK: - The keyboard

extension CursesScreen {
    /// An input event.
    package enum Input: Hashable {
        case key(Key)
        case wheel(up: Bool, row: Int)
    }

    /// The next input; nil if there is none now.
    package func next() -> Input? {
        while true {
            var code = wint_t()
            let result = curses.wget_wch(window, &code)
            guard result != ERR else { return nil }
            if result == KEY_CODE_YES, Int32(bitPattern: code) == KEY_MOUSE {
                if let wheel = wheelInput() { return wheel }
                continue
            }
            let key = result == KEY_CODE_YES ? KeyDecoder.function(code) : KeyDecoder.character(code)
            if let key { return .key(key) }
        }
    }

    private func wheelInput() -> Input? {
        var event = MEVENT()
        guard curses.getmouse(&event) == OK else { return nil }
        if event.bstate & netwatch_wheel_up != 0 { return .wheel(up: true, row: Int(event.y)) }
        if event.bstate & netwatch_wheel_down != 0 { return .wheel(up: false, row: Int(event.y)) }
        return nil
    }
}

// MARK: - Coming and going

extension CursesScreen {
    /// Restores the terminal, unless it is already restored, or belongs to another job now.
    package func leave() {
        guard !hasLeft else { return }
        hasLeft = true
        _ = curses.endwin()
        let bytes = buffer.take()
        guard device.isOurs else { return TerminalGuard.disarm() }
        _ = device.write(wheel.end + bytes)
        device.finish(within: Self.restoringTimeout)
        device.set(device.settings)
        TerminalGuard.disarm()
    }

    /// Takes the terminal again after ``leave()``, or after another job had it, and redraws everything.
    package func resume() {
        device.set(drawingSettings)
        // If the screen was never left, the wheel's mode is already set and the earlier one saved.
        let keepsWheel = hasLeft
        hasLeft = false
        begin(keepsWheel: keepsWheel)
    }

    /// The timeout for restoring a terminal that accepts nothing, in milliseconds.
    private static let restoringTimeout: Int32 = 1_000

    private func begin(keepsWheel: Bool) {
        TerminalGuard.arm(device, bytes: wheel.end + RestoringBytes.make(curses, hasMouse: wheel == .buttons))
        _ = device.write(wheel.begin(keeps: keepsWheel))
        if wheel == .buttons {
            _ = curses.mousemask(netwatch_wheel_up | netwatch_wheel_down, nil)
            _ = curses.mouseinterval(0)
        }
        _ = curses.leaveok(window, true)
        _ = curses.curs_set(0)
        cursor = nil
        invalidate()
    }

    private static func keyboard(_ device: TerminalDevice) -> UnsafeMutablePointer<FILE>? {
        let descriptor = fcntl(device.descriptor, F_DUPFD_CLOEXEC, 3)
        return descriptor < 0 ? nil : fdopen(descriptor, "r")
    }

    private static func canMoveCursor(_ curses: netwatch_curses) -> Bool {
        let text = curses.tigetstr("cup")
        return text != nil && Int(bitPattern: text) != -1
    }

    /// Disables line buffering and echo; returns the settings for that.
    private static func prepare(
        _ curses: netwatch_curses,
        _ window: UnsafeMutablePointer<WINDOW>,
        _ device: TerminalDevice
    ) -> termios {
        _ = curses.cbreak()
        _ = curses.noecho()
        _ = curses.nonl()
        _ = curses.keypad(window, true)
        _ = curses.nodelay(window, true)
        // Drawing is not put off because something was typed.
        _ = curses.typeahead(-1)
        _ = curses.set_escdelay(25)
        var settings = device.currentSettings
        // ctrl-S would stop the terminal, and the view would wait for it.
        settings.c_iflag &= ~tcflag_t(IXON)
        device.set(settings)
        for signal in [SIGINT, SIGTERM, SIGTSTP, SIGWINCH] where !SignalActions.isIgnored(signal) {
            // ncurses has put its own handlers there, which would take the signals from the main loop.
            Glibc.signal(signal, SIG_DFL)
        }
        return settings
    }

    private static func restore(_ curses: netwatch_curses, _ device: TerminalDevice) {
        _ = curses.endwin()
        device.set(device.settings)
    }
}

/// The functions of ncurses, found when the live view opens.
enum CursesLibrary {
    /// Finds them.
    ///
    /// - Throws: An error that names the missing capability.
    static func load() throws(TerminalUnfit) -> netwatch_curses {
        var functions = netwatch_curses()
        if let missing = netwatch_curses_load(&functions) {
            throw .init("\(String(cString: missing)) is missing; install the package libncursesw6")
        }
        return functions
    }
}

/// Why the live view cannot be shown on a terminal, where that was to be expected; lines are printed instead.
package struct TerminalUnfit: Error, Hashable {
    /// The problem and its fix; nil if the user chose such a terminal.
    package let words: String?

    package init(_ words: String?) { self.words = words }
}

/// The output of ncurses: a file in memory (memfd_create(2)), from which the bytes are read.
///
/// ncurses waits for a blocked terminal, and does not report a closed one; a program that waits there
/// could not be ended any more. It keeps writing to a descriptor that first was the terminal, whose settings it reads.
final class DrawingBuffer {
    /// The stream for ncurses.
    let file: UnsafeMutablePointer<FILE>
    private let descriptor: Int32
    private let memory: Int32

    /// Creates a stream to a terminal.
    init(_ device: TerminalDevice) throws(SystemError) {
        memory = try retryingOnInterrupt { memfd_create("netwatch-screen", netwatch_memfd_cloexec) }
        descriptor = try retryingOnInterrupt { fcntl(device.descriptor, F_DUPFD_CLOEXEC, 3) }
        guard let file = fdopen(descriptor, "w") else { throw .last }
        self.file = file
    }

    deinit {
        fclose(file)
        close(memory)
    }

    /// Redirects the output to the file.
    func detach() throws(SystemError) {
        fflush(file)
        _ = try retryingOnInterrupt { dup2(memory, descriptor) }
        _ = try retryingOnInterrupt { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Returns and clears the output.
    func take() -> [UInt8] {
        let length = lseek(memory, 0, SEEK_CUR)
        guard length > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { part, count in
            count = max(0, pread(memory, part.baseAddress, length, 0))
        }
        // The position is shared with the descriptor that is written to.
        lseek(memory, 0, SEEK_SET)
        return bytes
    }
}

/// The translation of ncurses key codes to keys (curs_getch(3X)).
enum KeyDecoder {
    /// A character, possibly a control character; nil if it has no meaning.
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

/// The bytes that restore a terminal when ncurses no longer can: terminfo(5).
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
        // Both nil and -1 mean that there is none.
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

/// Whether a terminal can show the live view, as far as its name says.
package enum TerminalFitness {
    /// Gives the terminal's type, if it may be able to.
    ///
    /// - Parameter type: The terminal's type (TERM; see environ(7)).
    /// - Returns: The type, for terminfo(5).
    /// - Throws: If not; without words for a terminal that says it can only write lines.
    package static func type(_ type: String?) throws(TerminalUnfit) -> String {
        switch type {
        case nil, "": throw .init("TERM is not set; set it to the terminal's type, such as xterm-256color")
        case "dumb"?: throw .init(nil)
        case let type?: return type
        }
    }

    /// Whether the terminal takes UTF-8, as far as the environment says (setlocale(3), nl_langinfo(3)).
    ///
    /// Only the characters are taken from there: numbers and messages stay as they are.
    package static func hasUnicode() -> Bool {
        setlocale(LC_CTYPE, "")
        guard let name = nl_langinfo(nl_item(CODESET)) else { return false }
        return strcasecmp(name, "UTF-8") == 0
    }

    /// Returns the error for a type that ncurses does not know, or that cannot move the cursor.
    static func unknown(_ type: String) -> TerminalUnfit {
        let name = type.prefix(40).escapedForTerminal
        return .init("the terminal type '\(name)' is unknown or too simple; set TERM, or install ncurses-term")
    }
}

/// The terminal mode that reports the mouse wheel, and leaves the mouse to the user for selecting text.
enum WheelMode: Hashable {
    /// The terminal turns it into the arrow keys (DECSET 1007 of xterm), and keeps the rest of the mouse for itself.
    case arrows
    /// The program receives the mouse's buttons; text is selected with shift held down.
    case buttons

    /// Selects the mode for a terminal type: terminal multiplexers do not translate the wheel to arrow keys.
    init(terminal type: String) {
        self = type.hasPrefix("tmux") || type.hasPrefix("screen") ? .buttons : .arrows
    }

    /// Returns the bytes that enable it.
    ///
    /// - Parameter keeps: Whether to save the current mode, to be restored afterwards (XTSAVE).
    /// - Returns: The bytes.
    func begin(keeps: Bool) -> [UInt8] {
        self == .arrows ? Array("\(keeps ? "\u{1B}[?1007s" : "")\u{1B}[?1007h".utf8) : []
    }

    /// The bytes that restore the previous mode (XTRESTORE).
    ///
    /// Many have this mode on from the beginning, and other programs expect it; those that cannot restore it keep it on.
    var end: [UInt8] { self == .arrows ? Array("\u{1B}[?1007r".utf8) : [] }
}
