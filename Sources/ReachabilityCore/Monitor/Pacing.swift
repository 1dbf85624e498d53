/// The monitor's rate limits and timeouts: what each bounds, and why it has this value.
///
/// There are four kinds. A *coalescing delay* lets changes that come together be handled together. A *transit time* waits
/// for what the kernel has begun. A *timeout* ends a wait for something that may never come. A *backoff* keeps failures
/// and repeated work from taking all the time there is.
enum Pacing {
    // MARK: Coalescing delays

    /// The time for which a change that hardly affects the path waits before it is evaluated with others like it.
    ///
    /// Containers add and remove interfaces by the thousand. An evaluation looks at every address, so the delay grows with
    /// the number of links.
    static func unimportantChange(links: Int) -> Duration { .milliseconds(50) + .microseconds(100) * links }

    /// The delay of the lookups that confirm an evaluation which left the path as it was.
    ///
    /// A storm of such changes then costs 50 lookups a second at most.
    static let confirmation = Duration.milliseconds(20)
    /// The same after changes that hardly affect the path: an IPv6 lookup looks at every address of the machine.
    static let unimportantConfirmation = Duration.milliseconds(250)
    /// The shortest interval between queries for a tunnel's egress, however often the routes change.
    static let tunnelQuery = Duration.milliseconds(2)
    /// The longest settle time that is honoured; a longer one would exceed the clock's range.
    static let longestSettleTime = Duration.seconds(86_400)
    /// How many settle times a path that keeps changing is held back at most.
    static let longestHold = 5

    // MARK: Transit times

    /// The longest time that a message takes from the kernel's change to the socket, if its thread is not interrupted.
    static let delivery = Duration.milliseconds(1)
    /// The longest pause before another lookup while a change may be without its announcement.
    ///
    /// The pauses double, and take 127 ms together. The kernel's thread may wait for a processor in between.
    static let announcement = Duration.milliseconds(64)
    /// How much later than the monitor's clock the kernel expires a route: it counts in hundredths of a second.
    static let routeExpiry = Duration.milliseconds(20)
    /// The shortest suspension that is reported.
    ///
    /// The two clocks are not read at the same moment; a thread is not kept from running this long in between.
    static let shortestSuspension = Duration.milliseconds(100)
    /// The time after the last message of a recorded dump in which another dump of the same resynchronization may begin.
    static let recordedDump = Duration.milliseconds(10)
    /// The time after a recorded dump from which on a notification shows that no more dumps follow.
    static let recordedStart = Duration.milliseconds(500)

    // MARK: Timeouts

    /// The longest time for which an incomplete model, or a query under way, may delay the publication of a path.
    ///
    /// If the thread has not run for so long, and replies are queued, it begins again, once.
    static let publication = Duration.seconds(1)
    /// The time for which the netlink sockets may fail before the state is published as unknown.
    static let failureReport = Duration.seconds(1)
    /// The time for which a dump may make no progress.
    ///
    /// The kernel replies as fast as the replies are read.
    static let dumpProgress = Duration.seconds(5)
    /// The grace period after ``dumpProgress``, in which replies that are already queued are read.
    ///
    /// The thread may not have run for so long, as in a suspended virtual machine.
    static let dumpGracePeriod = Duration.milliseconds(100)

    // MARK: Backoff

    /// The delay before netlink is tried again: sockets that cannot be opened, dumps that fail.
    static let netlinkRetry = Backoff(from: .milliseconds(10), to: .seconds(5))
    /// How often a dump that was interrupted, or that differs from the previous one, is repeated without a delay.
    static let dumpRepetitions = 3
    /// The longest pause after dumps; the pause is a multiple of the time that the dumps took.
    static let longestDumpPause = Duration.seconds(5)
    /// The longest time between two datagrams that counts as spent on a dump.
    ///
    /// The kernel fills a datagram in a fraction of it. If more time passes, the process was stopped or busy with
    /// notifications; the pause must not delay the dumps that it needs afterwards.
    static let longestDumpStep = Duration.milliseconds(1)
}
