import CLinux
import Glibc
import NetworkLab

/// A terminal whose screen the test reads (pty(7)).
package final class PseudoTerminal {
    /// The program's end, its input and output.
    package let program: Int32
    /// Its path.
    package let path: String
    /// The output that it draws.
    package let screen: LineReader
    /// The same descriptor, which the screen closes.
    private let keyboard: Int32

    package init() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0 else { throw LabError("open /dev/ptmx", errno: errno) }
        screen = LineReader(master)
        keyboard = master
        var (lock, number): (Int32, UInt32) = (0, 0)
        guard ioctl(master, Self.setLock, &lock) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw LabError("ioctl of /dev/ptmx", errno: errno)
        }
        path = "/dev/pts/\(number)"
        program = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard program >= 0 else { throw LabError("open \(path)", errno: errno) }
    }

    /// TIOCSPTLCK and TIOCGPTN, whose macros Swift cannot import; ioctl_tty(2).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Closes this process's end of the terminal, so that the screen ends with the program.
    package func handOver() { close(program) }

    /// Types.
    package func type(_ text: String) {
        _ = text.withCString { write(keyboard, $0, strlen($0)) }
    }

    /// Sets the size of the screen, and notifies the program (ioctl_tty(2)).
    package func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }

    /// All of its settings, byte for byte.
    package var settings: [UInt8] {
        var settings = termios()
        tcgetattr(keyboard, &settings)
        return withUnsafeBytes(of: settings) { Array($0) }
    }

    /// Whether it echoes (termios(3)).
    package var showsWhatIsTyped: Bool {
        var settings = termios()
        return tcgetattr(keyboard, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Reads until something is drawn; everything up to there.
    package func read(until text: String) throws -> String {
        var seen = ""
        while !seen.contains(text) {
            guard let bytes = try screen.bytes() else { throw LabError("see \(text)", errno: EPIPE, detail: seen) }
            seen += String(decoding: bytes, as: UTF8.self)
        }
        return seen
    }
}
