import DurableStore
import EventCore
import EventJournal
import HTTPLab
import NetwatchCore
import NetworkLab
import ReachabilityCore

/// A folder for a journal, and the clocks of the machine that writes it.
final class JournalLab: Sendable {
    let folder: LabFolder
    /// What the journal told.
    let words = LabInbox<String>()

    init() throws { folder = try LabFolder() }

    var path: String { folder.path + "/journal" }

    /// Opens the journal for a run.
    func open(
        run: UInt64,
        boot: String = "boot-1",
        at beginning: EventMetrics.Moment = .at(0),
        limits: JournalLimits = .init(),
        interval: Duration = .seconds(3600),
        lock: JournalLock? = nil
    ) -> EventJournal {
        let place = EventJournal.Place(days: LocalDays { _ in 0 }, clock: { "\($0.seconds)" })
        var configuration = EventJournal.Configuration(
            folder: path,
            run: run,
            bootIdentifier: boot,
            beginning: beginning,
            place: place
        ) { [words] in words.put($0) }
        configuration.limits = limits
        configuration.interval = interval
        configuration.lock = lock
        return EventJournal(configuration)
    }
}

extension EventMetrics.Moment {
    /// A second, by the clock of the boot and by a wall clock that differs from it.
    static func at(_ second: Int64, wall: Int64? = nil) -> Self {
        .init(sinceBoot: second * 1_000_000_000, since1970: (wall ?? 1_000_000 + second) * 1_000_000_000)
    }
}

extension StoredEvent {
    /// An event whose line is its number.
    static func numbered(
        _ sequence: UInt64,
        _ status: ReachabilityStatus = .wifi,
        at moment: EventMetrics.Moment? = nil,
        padding: Int = 0,
        verdict: ValidationSummary? = nil
    ) -> Self {
        let change = ReachabilityChange(
            event: sequence == 1 ? .state : .change,
            status: status,
            previous: nil,
            path: .init(status: status),
            reasons: [.routeAdded],
            sequence: sequence
        )
        var totals = EventTotals()
        totals.reasons["route.added"] = sequence
        let member = verdict.map { ",\"validation\":\($0.json)" } ?? ""
        let line = "{\"seq\":\(sequence)\(String(repeating: " ", count: padding))\(member)}\n"
        return .init(
            sequence: sequence,
            change: change,
            line: Array(line.utf8),
            moment: moment ?? .at(Int64(sequence)),
            totals: totals
        )
    }
}

extension EventJournal {
    func page(after id: EventID, limit: Int = 1000) async -> JournalPage<[UInt8]> {
        await withCheckedContinuation { continuation in
            page(after: id, limit: limit) { continuation.resume(returning: $0) }
        }
    }

    /// The ids after an event.
    func ids(after run: UInt64, _ sequence: UInt64 = 0) async -> [String] {
        await page(after: .init(run: run, sequence: sequence)).entries.map { "\($0.id.run).\($0.id.sequence)" }
    }

    /// The counters as they are known first.
    func totals() async -> EventTotals? {
        let stream = AsyncStream<EventTotals?>.makeStream()
        restore { stream.continuation.yield($0) }
        return await stream.stream.first { _ in true } ?? nil
    }

    func start(since age: Duration, at now: EventMetrics.Moment) async -> EventID? {
        await withCheckedContinuation { continuation in
            start(since: age, at: now) { continuation.resume(returning: $0) }
        }
    }

    func report(since age: Duration, at now: EventMetrics.Moment) async -> String? {
        await withCheckedContinuation { continuation in
            report(since: age, at: now) { line in
                continuation.resume(returning: line.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }
}
