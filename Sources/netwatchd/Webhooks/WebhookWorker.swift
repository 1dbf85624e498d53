import CommandLineSupport
import EventCore
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Adds the messages of webhooks to the outbox, those of each in the order of the events.
///
/// It follows the journal for each webhook, and remembers in a file how far it got: what happened while it was not
/// running, or could not be added, is added later. A webhook whose messages the outbox refuses holds back no other. A
/// message that is added twice is the same, with the same key, so that the outbox has it once.
final class WebhookWorker: Sendable {
    private let configuration: WebhookConfiguration
    private let store: any EventStore
    private let run: UInt64
    private let file: WebhookPositions
    private let gracePeriod: Duration
    private let add: @Sendable (WebhookMessage, Webhook) throws(ToolError) -> Void
    private let cancel: @Sendable () -> Void
    private let report: @Sendable (ToolError) -> Void
    private let thread = SystemThread()
    private let wakeup: Wakeup
    private let isStopped = Atomic(false)

    /// The wait after the outbox could not take a message.
    private static let retryInterval = Duration.seconds(30)
    /// An age that no event of a journal has: about a century.
    private static let longestAge = Duration.seconds(3_000_000_000)

    /// Creates a worker that is not started.
    ///
    /// - Parameters:
    ///   - configuration: The webhooks.
    ///   - store: The journal.
    ///   - run: The run of the service.
    ///   - file: The file with the positions.
    ///   - gracePeriod: How long ``stop()`` waits for the message that is being added.
    ///   - add: Adds a message to the outbox; blocks until it is on disk.
    ///   - cancel: Ends a running `add`, which throws then; called on another thread.
    ///   - report: Reports a problem; by default to stderr.
    /// - Throws: The errno of eventfd(2).
    init(
        _ configuration: WebhookConfiguration,
        _ store: any EventStore,
        run: UInt64,
        file: WebhookPositions,
        gracePeriod: Duration = .seconds(5),
        add: @escaping @Sendable (WebhookMessage, Webhook) throws(ToolError) -> Void,
        cancel: @escaping @Sendable () -> Void = {},
        report: @escaping @Sendable (ToolError) -> Void = { _ = CommandLineProgram.report($0) }
    ) throws(SystemError) {
        (self.configuration, self.store, self.run, self.file, self.add) = (configuration, store, run, file, add)
        (self.gracePeriod, self.cancel, self.report) = (gracePeriod, cancel, report)
        wakeup = try Wakeup()
    }

    /// Starts the thread.
    func start() throws(SystemError) { try thread.start("webhooks") { [self] in work() } }

    /// Has the worker look for events, which were stored.
    func wake() { wakeup.signal() }

    /// Ends the thread after the message that is being added; waits for that.
    ///
    /// The outbox may be locked by a process that is stopped: after the grace period, the next run adds the message.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeup.signal()
        let deadline = SystemClock.now.advanced(by: gracePeriod)
        while !thread.hasEnded, SystemClock.now < deadline { usleep(5_000) }
        cancel()
        thread.waitForEnd()
    }

    private func work() {
        var positions = file.read(for: configuration.webhooks)
        // Kept in the file until what they have not sent is reported.
        positions.merge(file.readOthers(than: configuration.webhooks)) { position, _ in position }
        var failures: [String: ToolError] = [:]
        while !isStopped.load(ordering: .acquiring) {
            wakeup.clear()
            reportOthers(&positions)
            for webhook in configuration.webhooks where !isStopped.load(ordering: .acquiring) {
                addMessages(for: webhook, &positions, &failures)
            }
            if failures.isEmpty {
                _ = wakeup.wait(until: .init(nanoseconds: .max))
            } else {
                _ = wakeup.wait(until: SystemClock.now.advanced(by: Self.retryInterval))
            }
        }
    }

    /// Reports the events that webhooks have not sent which are no longer configured, and forgets those webhooks.
    ///
    /// - Parameter positions: The last event of each webhook, by its name.
    private func reportOthers(_ positions: inout [String: EventID]) {
        let names = Set(configuration.webhooks.map(\.name))
        for (name, last) in positions.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
            // Tried again when the journal can be read.
            guard let count = countEarlierEvents(after: last) else { continue }
            positions[name] = nil
            guard count > 0 else { continue }
            let events = "\(count) \(count == 1 ? "event" : "events") after \(last)"
            let what = "the webhook '\(name.escapedForTerminal)' is not configured any more, and has not sent \(events)"
            // Otherwise the next start reports it again.
            try? file.write(positions)
            let fix = "if it has another name now, stop the service and append the line '\(last) NAME'"
            report(.init("\(what); \(fix) to '\(file.path.escapedForTerminal)'", exit: .outputFailure))
        }
    }

    /// Returns the number of stored events of earlier runs after an event; nil if the journal can't be read.
    private func countEarlierEvents(after id: EventID) -> Int? {
        var (last, count) = (id, 0)
        while !isStopped.load(ordering: .acquiring) {
            let page = page(after: last, limit: 256)
            guard page.isReadable else { return nil }
            if page.failure == .expired {
                guard let oldest = oldestPosition(), oldest != last else { return count }
                last = oldest
                continue
            }
            let earlier = page.entries.prefix { $0.id.run != run }
            count += earlier.count
            guard let next = earlier.last?.id, earlier.count == page.entries.count else { return count }
            last = next
        }
        return nil
    }

    /// Reads the events that follow one.
    private func page(after id: EventID, limit: Int) -> JournalPage<[UInt8]> {
        let promise = BlockingPromise<JournalPage<[UInt8]>>()
        store.page(after: id, limit: limit) { promise.fulfill($0) }
        return promise.wait()
    }

    /// Finds the event before the oldest stored one; nil if nothing is stored.
    private func oldestPosition() -> EventID? {
        let promise = BlockingPromise<EventID?>()
        store.start(since: Self.longestAge, at: .now) { promise.fulfill($0) }
        return promise.wait()
    }

    /// Adds the messages of a webhook about the events after its position, and reports a failure.
    ///
    /// - Parameters:
    ///   - webhook: The webhook.
    ///   - positions: The last event of each webhook, by its name.
    ///   - failures: The failure since which a webhook has no messages in the outbox, by its name.
    private func addMessages(
        for webhook: Webhook,
        _ positions: inout [String: EventID],
        _ failures: inout [String: ToolError]
    ) {
        var last = positions[webhook.name] ?? .init(run: run, sequence: 0)
        do throws(ToolError) {
            while let next = try addPage(after: last, for: webhook, &positions) { last = next }
            failures[webhook.name] = nil
        } catch {
            // A failure of several webhooks is reported once.
            let isReported = failures[webhook.name] != nil || failures.values.contains(error)
            failures[webhook.name] = error
            // One that the end of the service has interrupted is no failure.
            if !isReported, !isStopped.load(ordering: .acquiring) { report(error) }
        }
    }

    /// Adds the messages of a webhook about the next events.
    ///
    /// - Returns: The last event; nil if there are no more.
    private func addPage(
        after last: EventID,
        for webhook: Webhook,
        _ positions: inout [String: EventID]
    ) throws(ToolError) -> EventID? {
        let page = page(after: last, limit: 32)
        guard page.isReadable else {
            // The journal itself reports why.
            throw .init("webhooks wait until the journal can be read; see above", exit: .outputFailure)
        }
        if page.failure == .expired { return try skipRemoved(after: last, for: webhook, &positions) }
        if page.failure != nil, last.run != run { return .init(run: run, sequence: 0) }
        // Before the first message, so that the next run continues here even if none can be added. The directory
        // exists: the journal was read.
        if page.failure == nil, positions[webhook.name] == nil { try save(last, of: webhook, &positions) }
        var skipped: EventID?
        for entry in page.entries where !isStopped.load(ordering: .acquiring) {
            skipped = entry.id
            guard let message = WebhookMessage(for: webhook, about: entry.id, entry.event, from: Self.source) else {
                continue
            }
            try add(message, webhook)
            try save(entry.id, of: webhook, &positions)
            skipped = nil
        }
        // Once for all events that follow the last message: each call waits for the disk.
        if let skipped { try save(skipped, of: webhook, &positions) }
        return isStopped.load(ordering: .acquiring) ? nil : page.entries.last?.id
    }

    /// Continues before the oldest stored event, because the journal has removed events that were not added.
    ///
    /// - Returns: The event after which to continue; nil if nothing is stored.
    private func skipRemoved(
        after last: EventID,
        for webhook: Webhook,
        _ positions: inout [String: EventID]
    ) throws(ToolError) -> EventID? {
        guard let oldest = oldestPosition(), oldest != last else { return nil }
        // Kept, so that a failure that follows does not have it reported again.
        try save(oldest, of: webhook, &positions)
        let events = "the events after \(last), which the webhook '\(webhook.name)' has not sent"
        report(.init("the journal no longer has \(events); keep more of them with --keep", exit: .outputFailure))
        return oldest
    }

    /// Stores the last event of a webhook.
    private func save(_ id: EventID, of webhook: Webhook, _ positions: inout [String: EventID]) throws(ToolError) {
        var changed = positions
        changed[webhook.name] = id
        try file.write(changed)
        positions = changed
    }

    /// This machine, as CloudEvents name it: a reference to a resource (RFC 3986).
    private static let source: String = {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "//" + String(decoding: bytes, as: UTF8.self) + "/netwatch"
    }()
}

/// The file with the last event of each webhook whose message is in the outbox, or that it does not want.
///
/// A line for each webhook: the event's id, and the webhook's name. The file of an earlier version has one line without
/// a name, for all webhooks.
struct WebhookPositions: Sendable {
    /// The path.
    let path: String

    /// Returns the events of webhooks, by their names, without those that have none yet.
    func read(for webhooks: [Webhook]) -> [String: EventID] {
        var events: [String: EventID] = [:]
        for (id, name) in lines {
            for webhook in webhooks where name == nil || name == webhook.name { events[webhook.name] = id }
        }
        return events
    }

    /// Returns the events of webhooks that are not among these, by their names.
    func readOthers(than webhooks: [Webhook]) -> [String: EventID] {
        var events: [String: EventID] = [:]
        for (id, name) in lines {
            if let name, !webhooks.contains(where: { $0.name == name }) { events[name] = id }
        }
        return events
    }

    /// The events with the names of the webhooks, in order: of two lines with a name, the last one counts.
    private var lines: [(id: EventID, name: String?)] {
        let bytes = (try? FileContents.read(path, atMost: 4 << 20)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.compactMap { (line) -> (id: EventID, name: String?)? in
            let words = line.split(separator: " ", maxSplits: 1)
            guard let first = words.first, let id = try? EventID(parsing: first) else { return nil }
            return (id, words.count > 1 ? String(words[1]) : nil)
        }
    }

    /// Replaces the file in one step; after a power failure it has the old or the new events.
    ///
    /// Without the file, the events of earlier runs would not be added. A message that is added again after a power failure has
    /// the same key.
    func write(_ events: [String: EventID]) throws(ToolError) {
        let lines = events.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
        do throws(SystemError) {
            try DurableFile.replace(path, with: lines.joined())
        } catch {
            throw .init("cannot write '\(path.escapedForTerminal)': \(error); free space there", exit: .outputFailure)
        }
    }
}

/// A closure that is known later than the one that calls it.
final class LaterClosure: Sendable {
    private let body = Lock<(@Sendable () -> Void)?>(nil)

    /// Sets the closure.
    func set(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    /// Calls the closure, if it is set.
    func call() { body.withLock { $0 }?() }
}
