import Glibc
import ReachabilityCore

/// Draws progress on stderr, on one line that is drawn over again.
struct ProgressDisplay {
    /// How often it is drawn.
    static let interval = Duration.milliseconds(100)

    private var meter = ProgressMeter()
    private var isDrawn = false

    /// Draws what is known now, once something has come.
    mutating func draw(_ received: Int, of expected: Int?) {
        meter.note(received, of: expected, at: SystemClock.now)
        guard received > 0 else { return }
        isDrawn = true
        write("\r" + ProgressText.line(meter, width: Self.width) + Self.clearRest)
    }

    /// Leaves the line as it is, and the next one for others; nothing is left of it where nothing was drawn.
    mutating func end() {
        guard isDrawn else { return }
        isDrawn = false
        write("\n")
    }

    private func write(_ text: String) {
        // Where stderr can't be written there is nobody to tell.
        try? LineOutput.standardError.write(text)
    }

    /// EL, ECMA-48: clears up to the line's end.
    private static let clearRest = "\u{1B}[K"

    /// The terminal's width (ioctl_tty(2)); 80 where it does not tell.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
