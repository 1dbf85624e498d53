package import ReachabilityCore

/// An input of the live view.
package enum LiveViewInput: Sendable {
    /// A change of the monitor; `latency` is the time from reading the kernel's message to the change, if one caused
    /// it.
    case change(ReachabilityChange, latency: Duration?, at: ViewMoment)
    /// The changes from before the view was opened; they may arrive at any time, once.
    case earlier(EarlierChanges)
    /// The monitor's model after a change, for the table of interfaces and the sentences.
    case model(NetworkSnapshot, PathEvaluation, why: [Sentence], at: ViewMoment)
    /// Whether the path leads to the internet; nil if that is not known any more.
    case validation(ValidationSummary?)
    /// How much each interface has carried; the rates follow from two of these.
    case counters([InterfaceIndex: TrafficCounters], at: Instant)
    /// The Wi-Fi details.
    case wifi([WiFiDetails])
    /// The route to one of the hosts, by its place in ``LiveViewOptions/hosts``.
    case destination(Int, DestinationState, at: ViewMoment)
    /// The lines of `netwatch explain`, after ``LiveViewAction/explain``.
    case explanation([String])
    /// Whether the kernel's messages are being recorded.
    case recording(RecordingState, at: ViewMoment)
    /// A key was pressed.
    case key(Key)
    /// The mouse's wheel was turned over a row of the screen.
    case wheel(up: Bool, row: Int)
    /// The screen has another size, or has one at all.
    case resize(ScreenSize)
    /// Time has passed.
    case tick(ViewMoment)
}

/// An action that the shell has to take after an input.
package enum LiveViewAction: Sendable, Hashable {
    /// End.
    case quit
    /// Ask for the lines of `netwatch explain`, and hand them in.
    case explain
    /// Start a recording, in a file that the shell names, and pass its progress to the view.
    case startRecording
    /// End the recording.
    case stopRecording
    /// Stop the process as ctrl-Z does elsewhere (SIGTSTP).
    case suspend
    /// Redraw the whole screen, as something else may have written to it.
    case redraw
}

/// A key.
package enum Key: Sendable, Hashable {
    /// A character key.
    case character(Character)
    /// The same with ctrl, by the letter in lower case: `.control("l")`.
    case control(Character)
    /// Return, or the keypad's enter.
    case enter
    /// Escape.
    case escape
    /// The key that removes the character before the cursor.
    case backspace
    /// The tabulator.
    case tab
    /// The arrow upwards.
    case up
    /// The arrow downwards.
    case down
    /// The arrow to the left.
    case left
    /// The arrow to the right.
    case right
    /// A page upwards.
    case pageUp
    /// A page downwards.
    case pageDown
    /// To the beginning.
    case home
    /// To the end.
    case end
}

/// How much an interface has carried since it was made (`struct rtnl_link_stats64`).
package struct TrafficCounters: Sendable, Hashable {
    /// `rx_bytes`.
    package var receivedBytes: UInt64
    /// `tx_bytes`.
    package var sentBytes: UInt64

    /// Makes counters.
    package init(receivedBytes: UInt64, sentBytes: UInt64) {
        self.receivedBytes = receivedBytes
        self.sentBytes = sentBytes
    }
}

/// Whether the kernel's messages are being recorded.
package enum RecordingState: Sendable, Hashable {
    /// They are not.
    case off
    /// They are, in a file that has grown to so many bytes.
    case on(path: String, bytes: Int)
    /// They cannot be, or cannot be any more, and why.
    case failed(String)
    /// The recording has ended; the file is whole.
    case saved(path: String, bytes: Int)
}

/// The options of the live view, which do not change.
package struct LiveViewOptions: Sendable, Hashable {
    /// The hosts of `--to`, as they were written.
    package var hosts: [String]
    /// The network namespace that is watched, as it was written; nil for one's own.
    package var namespace: String?
    /// The machine's name.
    package var machine: String?
    /// The tool's version.
    package var version: String
    /// Whether the terminal shows only ASCII, so that graphs use it.
    package var isASCII: Bool
    /// The context of evaluations, which decides about the kinds of interfaces.
    package var context: EvaluationContext

    /// Makes options.
    package init(
        hosts: [String] = [],
        namespace: String? = nil,
        machine: String? = nil,
        version: String = "",
        isASCII: Bool = false,
        context: EvaluationContext = .init(user: 0)
    ) {
        self.hosts = hosts
        self.namespace = namespace
        self.machine = machine
        self.version = version
        self.isASCII = isASCII
        self.context = context
    }
}

/// A moment, on the clocks that the live view reads; handed in from outside.
package struct ViewMoment: Sendable, Hashable {
    /// The wall clock's time, which may be set; only shown as the time of day.
    package var time: Timestamp
    /// The offset of local time from UTC at that time, in seconds east.
    package var utcOffset: Int
    /// `CLOCK_MONOTONIC`, for everything that is counted.
    package var instant: Instant
    /// For how long the machine has been suspended since it was booted: `CLOCK_BOOTTIME` less `CLOCK_MONOTONIC`.
    ///
    /// Suspended time counts as unknown. A few microseconds between reading the two clocks do no harm.
    package var suspended: Duration

    /// Creates a moment.
    package init(time: Timestamp, utcOffset: Int = 0, instant: Instant, suspended: Duration = .zero) {
        self.time = time
        self.utcOffset = utcOffset
        self.instant = instant
        self.suspended = suspended
    }
}

/// The state of the route to one host.
package enum DestinationState: Sendable, Hashable {
    /// Its name is being resolved, or the first result is awaited.
    case resolving
    /// The routes to its addresses.
    case paths([DestinationRoute])
    /// Its name cannot be resolved, and why; the resolution is retried.
    case failed(String)
}

/// The kernel's route to one address.
package struct DestinationRoute: Sendable, Hashable {
    /// The address.
    package var address: IPAddress
    /// Whether, and by what kind of carrier, it is reached.
    package var status: ReachabilityStatus
    /// The interface of the route itself.
    package var interface: NetworkInterface?
    /// The next hop; nil if the address is on the link.
    package var gateway: IPAddress?
    /// The source address that the kernel selects.
    package var source: IPAddress?
    /// Why there is no path, or why it is degraded.
    package var reasons: [ReachabilityReason]

    /// Creates a path.
    package init(
        to address: IPAddress,
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        gateway: IPAddress? = nil,
        source: IPAddress? = nil,
        reasons: [ReachabilityReason] = []
    ) {
        self.address = address
        self.status = status
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.reasons = reasons
    }
}
