import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// Shows progress on stderr, until something else is written there.
struct ProgressDisplay {
    /// How it is shown.
    let style: ProgressStyle
    /// The directions that are shown.
    let directions: Set<ProgressDirection>

    private var meter = ProgressMeter()
    private var direction = ProgressDirection.sent
    /// The line that was written last.
    private var shown: String?
    private var next: Instant
    private var activity: ActivityRow

    init(_ style: ProgressStyle, _ directions: Set<ProgressDirection>) {
        self.style = style
        self.directions = directions
        next = style == .lines ? SystemClock.now.advanced(by: style.interval) : SystemClock.now
        activity = .init(at: SystemClock.now)
    }

    /// The time of the next sample or drawing; nil for never.
    ///
    /// Samples are taken at least once per second, even if drawing is rarer, since the rate is computed from the last
    /// seconds.
    var deadline: Instant? { style == .none ? nil : min(next, SystemClock.now.advanced(by: .seconds(1))) }

    /// Draws the progress, if it is due; what the request waits for, until bytes are transferred.
    mutating func draw(_ progress: FetchProgress) {
        guard style != .none else { return }
        let now = SystemClock.now
        note(progress.sent, .sent, at: now)
        note(progress.received, .received, at: now)
        guard now >= next else { return }
        next = now.advanced(by: style.interval)
        if meter.received > 0 {
            show()
        } else if style == .redrawn, let row = activity.text(progress.activity, width: Self.width, at: now) {
            show(row)
        }
    }

    /// Records a sample.
    ///
    /// The response follows the request, and has its own line.
    private mutating func note(_ count: FetchProgress.Count, _ way: ProgressDirection, at now: Instant) {
        guard directions.contains(way), count.bytes > 0, direction == way || way == .received else { return }
        if direction != way {
            end()
            direction = way
        }
        meter.note(count.bytes, of: count.total, at: now)
    }

    /// Draws the final state, and moves to the next line; does nothing if nothing was drawn.
    mutating func end() {
        guard style != .none else { return }
        guard meter.received > 0 else {
            if shown != nil { write("\r\(Self.clearRest)") }
            shown = nil
            return
        }
        show()
        if style == .redrawn { write("\n") }
        (shown, meter) = (nil, .init())
    }

    private mutating func show() {
        show(ProgressText.line(meter, direction, width: Self.width))
    }

    private mutating func show(_ line: String) {
        guard line != shown else { return }
        shown = line
        write(style == .redrawn ? "\r\(line)\(Self.clearRest)" : line + "\n")
    }

    private func write(_ text: String) {
        // If stderr can't be written, the error can't be reported either.
        try? LineOutput.standardError.write(text)
    }

    /// EL, ECMA-48: clears up to the line's end.
    private static let clearRest = "\u{1B}[K"

    /// The terminal's width (ioctl_tty(2)); 80 if it is not known.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// The progress of a request.
struct FetchProgress: Hashable {
    /// The number of transferred bytes, and the total if it is known.
    struct Count: Hashable {
        var bytes = 0
        var total: Int?
    }

    /// The request's body.
    var sent = Count()
    /// The response's body.
    var received = Count()
    /// The activity that it waits for, if nothing is transferred.
    var activity = FetchActivity.server
}

/// The progress and the rate of a body, from samples that are passed in.
struct ProgressMeter: Hashable {
    /// The window of the rate: long enough to be stable, short enough to be current.
    private static let window = Duration.seconds(3)

    /// The number of transferred bytes.
    private(set) var received = 0
    /// The total number of bytes; nil if it is not known.
    private(set) var expected: Int?
    private var samples: [Sample] = []

    private struct Sample: Hashable {
        var time: Instant
        var received: Int
    }

    /// Adds a sample; with fewer bytes than before, it starts over.
    mutating func note(_ received: Int, of expected: Int?, at now: Instant) {
        if received < self.received { samples = [] }
        self.received = received
        self.expected = expected
        samples.append(.init(time: now, received: received))
        // The newest sample that is too old is the beginning of the window.
        while samples.count > 2, samples[1].time.advanced(by: Self.window) <= now { samples.removeFirst() }
    }

    /// The rate in bytes per second within the window; nil until there are two samples.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        let seconds = Double(last.time.nanoseconds - first.time.nanoseconds) / 1_000_000_000
        return Double(last.received - first.received) / seconds
    }

    /// The remaining time at this rate; nil if it is not known.
    var timeLeft: Duration? {
        guard let expected, let rate, rate > 0, expected >= received else { return nil }
        let seconds = (Double(expected - received) / rate).rounded(.up)
        return seconds < 360_000 ? .seconds(Int(seconds)) : nil
    }
}

/// Formats progress as one line for a terminal.
enum ProgressText {
    /// Returns the line, one column shorter than the terminal, so that no terminal wraps it.
    ///
    /// If there is not enough room, the bar is left out first, then the remaining time, the rate, and the total size.
    /// Nothing is truncated: half a number would be misleading.
    static func line(_ meter: ProgressMeter, _ direction: ProgressDirection = .received, width: Int) -> String {
        let room = max(0, width - 1)
        let parts = Parts(meter, direction)
        let cells = min(40, room - parts.whole.utf8.count - 3)
        if let share = parts.share, cells >= 5 {
            let filled = Int(share * Double(cells))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled)
            return "\(parts.percent)[\(bar)] \(parts.tail)"
        }
        return parts.candidates.first { $0.utf8.count <= room } ?? ""
    }

    /// The parts of a line, in ASCII.
    private struct Parts {
        /// The transferred share, from 0 to 1; nil if the total is not known.
        var share: Double?
        /// The share in percent, with a trailing space; empty if it is not known.
        var percent = ""
        /// The number of transferred bytes.
        var count: String
        /// The number of transferred bytes, and the total.
        var amount: String
        /// The rate.
        var rate: String
        var left = ""

        init(_ meter: ProgressMeter, _ direction: ProgressDirection) {
            rate = meter.rate.map { ", " + QuantityText.bytes(Int($0.rounded())) + "/s" } ?? ""
            count = QuantityText.bytes(meter.received)
            amount = count
            if let expected = meter.expected, expected > 0 {
                let share = min(1, Double(meter.received) / Double(expected))
                let digits = "\(Int(share * 100)) %"
                percent = String(repeating: " ", count: 5 - digits.utf8.count) + digits + " "
                amount += " of \(QuantityText.bytes(expected))"
                if meter.received < expected, let time = meter.timeLeft { left = ", \(QuantityText.rough(time)) left" }
                self.share = share
            }
            if direction == .sent { amount += " sent" }
        }

        var tail: String { amount + rate + left }
        var whole: String { percent + tail }
        var candidates: [String] {
            let share = percent.isEmpty ? count : String(percent.dropLast())
            return [whole, percent + amount + rate, percent + amount, percent + count, share]
        }
    }
}

/// The direction of a transfer.
enum ProgressDirection: Hashable {
    /// The request's body, to the server.
    case sent
    /// The response's body, from the server.
    case received
}

/// How progress is shown.
enum ProgressStyle: Hashable {
    /// Not at all.
    case none
    /// On one line that is redrawn.
    case redrawn
    /// A new line from time to time, on a terminal that can't do more.
    case lines

    /// Selects the style for an output.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether that is a terminal.
    ///   - type: The terminal's type (TERM; see environ(7)).
    init(isTerminal: Bool, type: String?) {
        switch type {
        case _ where !isTerminal: self = .none
        case nil, "", "dumb": self = .lines
        default: self = .redrawn
        }
    }

    /// The interval between two lines.
    var interval: Duration {
        switch self {
        case .none: .seconds(86_400)
        case .redrawn: .milliseconds(100)
        case .lines: .seconds(10)
        }
    }
}
