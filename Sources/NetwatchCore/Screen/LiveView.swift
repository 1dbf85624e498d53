public import ReachabilityCore

/// The live view: everything that the screen shows, as a value that inputs alter.
///
/// The shell hands in what comes, carries out what ``apply(_:)`` asks for, and draws ``frame(_:)`` whenever
/// ``revision`` is another. Nothing here reads a clock, a terminal or the network.
public struct LiveView: Sendable {
    let options: LiveViewOptions
    let words: PathWords
    /// The time as it is told.
    var clock: ViewClock
    /// What the top says.
    var verdict: Verdict
    /// Which state there was when.
    var timeline: StateTimeline
    /// The table of interfaces.
    var interfaces: [InterfaceRow] = []
    /// What goes through them.
    var traffic = TrafficMeter()
    /// What their radios tell.
    var wifi: [InterfaceIndex: WiFiSign] = [:]
    /// The hosts' rows.
    var destinations: [DestinationRow]
    /// The notices.
    var log: EventLog
    /// Whether the kernel's messages are being recorded.
    var recording = RecordingState.off
    /// Where on the screen people are.
    var navigation = Navigation()
    /// Counts what may have altered the frame; while it is the same, so are the lines of a size's frame.
    public internal(set) var revision: UInt64 = 0

    /// Begins with nothing known.
    public init(_ options: LiveViewOptions, at now: ViewMoment) {
        let clock = ViewClock(now)
        self.options = options
        self.clock = clock
        words = .init(glyphs: .init(isASCII: options.isASCII))
        verdict = .init(clock)
        timeline = .init(.unknown, at: clock.elapsed)
        destinations = options.hosts.map { DestinationRow($0, clock) }
        log = .init(words)
    }

    /// When the frame is another though nothing comes in, as ``Frame/nextChange`` tells.
    public var nextChange: Instant? { clock.nextChange }

    /// Takes what has come.
    ///
    /// - Returns: What the shell is to do about it.
    public mutating func apply(_ input: LiveViewInput) -> LiveViewAction? {
        switch input {
        case .key(let key):
            revision += 1
            return press(key)
        case .wheel(let up, let row):
            revision += 1
            turnWheel(up: up, over: row)
        case .resize(let size):
            revision += 1
            navigation.size = size
        default: take(input)
        }
        return nil
    }

    /// What a screen of a size shows.
    public func frame(_ size: ScreenSize) -> Frame { ScreenPainter(view: self, size: size).frame }

    var glyphs: Glyphs { words.glyphs }
}
