import CommandLineSupport
import Glibc
import ReachabilityCore

/// Shows progress on stderr, until something else is written there.
struct ProgressDisplay {
    /// How it is shown.
    let style: ProgressStyle
    /// Which way.
    let directions: Set<ProgressDirection>

    private var meter = ProgressMeter()
    private var direction = ProgressDirection.sent
    /// What was written last.
    private var shown: String?
    private var next: Instant

    init(_ style: ProgressStyle, _ directions: Set<ProgressDirection>) {
        self.style = style
        self.directions = directions
        next = style == .lines ? SystemClock.now.advanced(by: style.interval) : SystemClock.now
    }

    /// When it is to be told again how far it is; nil for never.
    ///
    /// That is more often than it may be drawn where it seldom is, since a rate is told from the last seconds.
    var deadline: Instant? { style == .none ? nil : min(next, SystemClock.now.advanced(by: .seconds(1))) }

    /// Draws what is known now, once something has gone or come, and if it is time.
    mutating func draw(_ progress: FetchProgress) {
        guard style != .none else { return }
        let now = SystemClock.now
        note(progress.sent, .sent, at: now)
        note(progress.received, .received, at: now)
        guard now >= next else { return }
        next = now.advanced(by: style.interval)
        if meter.received > 0 { show() }
    }

    /// The answer comes after the request, and has a line of its own.
    private mutating func note(_ count: FetchProgress.Count, _ way: ProgressDirection, at now: Instant) {
        guard directions.contains(way), count.bytes > 0, direction == way || way == .received else { return }
        if direction != way {
            end()
            direction = way
        }
        meter.note(count.bytes, of: count.total, at: now)
    }

    /// Shows the last of it, and leaves the next line for others; nothing is left of it where nothing was drawn.
    mutating func end() {
        guard meter.received > 0, style != .none else { return }
        show()
        if style == .redrawn { write("\n") }
        (shown, meter) = (nil, .init())
    }

    private mutating func show() {
        let line = ProgressText.line(meter, direction, width: Self.width)
        guard line != shown else { return }
        shown = line
        write(style == .redrawn ? "\r\(line)\(Self.clearRest)" : line + "\n")
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

/// How far a request is.
struct FetchProgress: Hashable {
    /// How much went or came, and of how much, if that is known.
    struct Count: Hashable {
        var bytes = 0
        var total: Int?
    }

    /// Of the request's body.
    var sent = Count()
    /// Of the answer's.
    var received = Count()
}
