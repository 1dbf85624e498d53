/// When the kernel is asked to confirm a verdict.
struct QuestionSchedule: Sendable, Hashable {
    /// When the next question is due.
    private(set) var due: Instant?
    private var inDetail = false
    private var retry: Instant?

    /// How long a change that did not alter the verdict may wait for its confirmation, so that a storm of changes costs
    /// few look-ups.
    private static let leisure = Duration.milliseconds(20)
    /// The same for changes that hardly can: a look-up of IPv6 looks at every address of the machine.
    private static let longLeisure = Duration.milliseconds(250)
    /// How long a message may take from the change that the kernel made to the socket.
    private static let delivery = Duration.milliseconds(1)

    /// Asks at a moment, or earlier if that is planned already.
    mutating func ask(at moment: Instant, inDetail: Bool) {
        // The answers are awaited that tell a late message from a silent change: asking before would tell nothing.
        if let retry, moment < retry { return }
        self.inDetail = self.inDetail || inDetail
        due = min(due ?? moment, moment)
    }

    /// Asks when there is leisure; more of it, if what changed is unimportant.
    mutating func askAtLeisure(at now: Instant, isImportant: Bool) {
        ask(at: now.advanced(by: isImportant ? Self.leisure : Self.longLeisure), inDetail: false)
    }

    /// Asks again once a message that is on its way must have arrived.
    mutating func askLater(at now: Instant) {
        let moment = now.advanced(by: Self.delivery)
        retry = moment
        inDetail = true
        due = moment
    }

    /// Takes the question if it is due, or if its answer is needed now; says whether it is to be asked in detail.
    mutating func take(at now: Instant, isNeeded: Bool) -> Bool? {
        guard isNeeded || due.map({ $0 <= now }) ?? false else { return nil }
        defer { self = .init() }
        return inDetail || isNeeded
    }

    /// Drops what was planned: the answers would have nothing to be held against.
    mutating func cancel() { self = .init() }
}
