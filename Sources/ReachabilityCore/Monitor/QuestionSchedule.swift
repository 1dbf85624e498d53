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

    /// Asks again at a moment when what is on its way must have arrived.
    mutating func askLater(at moment: Instant) {
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
