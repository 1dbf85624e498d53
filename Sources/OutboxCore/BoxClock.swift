/// A moment on an outbox's own clock, in nanoseconds.
///
/// The clock advances with the machine's time since boot, suspended or not, and continues over reboots. It never goes back.
package struct BoxTime: Sendable, Hashable, Comparable {
    /// The nanoseconds since the outbox was created, as far as they are known.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the moment that is a duration later, clamped to the clock's range.
    package func advanced(by duration: Duration) -> Self {
        .init(nanoseconds: nanoseconds.addingClamped(duration.wholeNanoseconds))
    }

    /// Returns the time from this moment to another, clamped to 292 years.
    package func duration(to other: Self) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingClamped(nanoseconds))
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 292 years.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowsToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
    }
}

/// The machine's clocks at one moment.
package struct ClockReading: Sendable, Hashable {
    /// The identifier of the running system, which changes with each boot.
    package var bootIdentifier: String
    /// The nanoseconds since boot, suspended or not (`CLOCK_BOOTTIME`).
    package var sinceBoot: Int64
    /// The nanoseconds since 1970 (`CLOCK_REALTIME`), right or wrong.
    package var wall: Int64
    /// Whether the kernel reports the wall clock as synchronized (adjtimex(2)).
    package var isSynchronized: Bool

    package init(bootIdentifier: String, sinceBoot: Int64, wall: Int64, isSynchronized: Bool) {
        self.bootIdentifier = bootIdentifier
        self.sinceBoot = sinceBoot
        self.wall = wall
        self.isSynchronized = isSynchronized
    }
}

/// The clock of an outbox, by which items expire.
///
/// Within a boot it follows the time since boot: no jump of the wall clock has an effect. Over a reboot it advances by the
/// time that the machine was off only if the wall clock was synchronized before and is synchronized now, and only
/// forward. Otherwise it continues where it was last stored: items then expire later, never earlier.
package struct BoxClock: Sendable, Hashable {
    /// A pair of simultaneous values of a synchronized wall clock and this clock.
    package struct Anchor: Sendable, Hashable {
        package var wall: Int64
        package var time: BoxTime
        /// The boot in which they were read.
        package var bootIdentifier: String

        package init(wall: Int64, time: BoxTime, bootIdentifier: String) {
            self.wall = wall
            self.time = time
            self.bootIdentifier = bootIdentifier
        }
    }

    /// The boot that ``time`` and ``sinceBoot`` refer to.
    package private(set) var bootIdentifier: String
    /// The time since boot at ``time``.
    package private(set) var sinceBoot: Int64
    /// The time when the clock was last updated.
    package private(set) var time: BoxTime
    /// The last synchronized values; nil if there were none.
    package private(set) var anchor: Anchor?

    /// Creates a clock that starts at zero.
    package init(at reading: ClockReading) {
        self.init(
            bootIdentifier: reading.bootIdentifier,
            sinceBoot: reading.sinceBoot,
            time: .init(nanoseconds: 0),
            nil
        )
        _ = update(reading)
    }

    /// Creates a clock from its stored values.
    package init(bootIdentifier: String, sinceBoot: Int64, time: BoxTime, _ anchor: Anchor?) {
        self.bootIdentifier = bootIdentifier
        self.sinceBoot = sinceBoot
        self.time = time
        self.anchor = anchor
    }

    /// Brings the clock up to date.
    ///
    /// - Parameter reading: The machine's clocks.
    /// - Returns: The current time.
    package mutating func update(_ reading: ClockReading) -> BoxTime {
        if reading.bootIdentifier == bootIdentifier {
            time = time.advanced(by: .nanoseconds(max(reading.sinceBoot.subtractingClamped(sinceBoot), 0)))
        }
        bootIdentifier = reading.bootIdentifier
        sinceBoot = reading.sinceBoot
        if reading.isSynchronized { join(reading) }
        return time
    }

    /// Adds the time that the machine was off, at the first synchronized reading of a boot, and keeps the anchor.
    private mutating func join(_ reading: ClockReading) {
        if let anchor, anchor.bootIdentifier != reading.bootIdentifier {
            let elapsed = Duration.nanoseconds(max(reading.wall.subtractingClamped(anchor.wall), 0))
            time = max(time, anchor.time.advanced(by: elapsed))
        }
        anchor = .init(wall: reading.wall, time: time, bootIdentifier: reading.bootIdentifier)
    }
}
