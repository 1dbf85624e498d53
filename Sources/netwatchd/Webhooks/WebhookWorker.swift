import CommandLineSupport
import EventCore
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Adds the messages of webhooks to the outbox, in the order of the events.
///
/// It follows the journal, and remembers in a file how far it got: what happened while it was not running is added later. A
/// message that is added twice is the same, with the same key, so that the outbox has it once.
final class WebhookWorker: Sendable {
    private let configuration: WebhookConfiguration
    private let store: any EventStore
    private let run: UInt64
    private let position: WebhookPosition
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
    ///   - position: The file with the position.
    ///   - gracePeriod: How long ``stop()`` waits for the message that is being added.
    ///   - add: Adds a message to the outbox; blocks until it is on disk.
    ///   - cancel: Ends a running `add`, which throws then; called on another thread.
    ///   - report: Reports a problem; by default to stderr.
    /// - Throws: The errno of eventfd(2).
    init(
        _ configuration: WebhookConfiguration,
        _ store: any EventStore,
        run: UInt64,
        position: WebhookPosition,
        gracePeriod: Duration = .seconds(5),
        add: @escaping @Sendable (WebhookMessage, Webhook) throws(ToolError) -> Void,
        cancel: @escaping @Sendable () -> Void = {},
        report: @escaping @Sendable (ToolError) -> Void = { _ = CommandLineProgram.report($0) }
    ) throws(SystemError) {
        (self.configuration, self.store, self.run, self.position, self.add) = (configuration, store, run, position, add)
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
        var last = position.read() ?? .init(run: run, sequence: 0)
        var hasFailed = false
        while !isStopped.load(ordering: .acquiring) {
            wakeup.clear()
            do throws(ToolError) {
                while let next = try addPage(after: last) { last = next }
                hasFailed = false
                _ = wakeup.wait(until: .init(nanoseconds: .max))
            } catch {
                // One that the end of the service has interrupted is no failure.
                if !hasFailed, !isStopped.load(ordering: .acquiring) { report(error) }
                hasFailed = true
                _ = wakeup.wait(until: SystemClock.now.advanced(by: Self.retryInterval))
            }
            // What was added before a failure is not added again.
            last = position.read() ?? last
        }
    }

    /// Adds the messages about the next events.
    ///
    /// - Returns: The last event; nil if there are no more.
    private func addPage(after last: EventID) throws(ToolError) -> EventID? {
        let promise = BlockingPromise<JournalPage<[UInt8]>>()
        store.page(after: last, limit: 32) { promise.fulfill($0) }
        let page = promise.wait()
        guard page.isReadable else {
            // The journal itself reports why.
            throw .init("webhooks wait until the journal can be read; see above", exit: .outputFailure)
        }
        if page.failure == .expired { return try skipRemoved(after: last) }
        if page.failure != nil, last.run != run { return .init(run: run, sequence: 0) }
        // Before the first message, so that the next run continues here even if none can be added. The directory
        // exists: the journal was read.
        if page.failure == nil, position.read() == nil { try position.write(last) }
        for entry in page.entries where !isStopped.load(ordering: .acquiring) {
            try addMessages(about: entry)
            try position.write(entry.id)
        }
        return isStopped.load(ordering: .acquiring) ? nil : page.entries.last?.id
    }

    /// Continues before the oldest stored event, because the journal has removed events that were not added.
    ///
    /// - Returns: The event after which to continue; nil if nothing is stored.
    private func skipRemoved(after last: EventID) throws(ToolError) -> EventID? {
        let promise = BlockingPromise<EventID?>()
        store.start(since: Self.longestAge, at: .now) { promise.fulfill($0) }
        guard let oldest = promise.wait(), oldest != last else { return nil }
        // Kept, so that a failure that follows does not have it reported again.
        try position.write(oldest)
        let words = "the journal no longer has the events after \(last), which webhooks have not sent"
        report(.init("\(words); keep more of them with --keep", exit: .outputFailure))
        return oldest
    }

    private func addMessages(about entry: JournalPage<[UInt8]>.Entry) throws(ToolError) {
        for webhook in configuration.webhooks {
            let message = WebhookMessage(for: webhook, about: entry.id, entry.event, from: Self.source)
            if let message { try add(message, webhook) }
        }
    }

    /// This machine, as CloudEvents name it: a reference to a resource (RFC 3986).
    private static let source: String = {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "//" + String(decoding: bytes, as: UTF8.self) + "/netwatch"
    }()
}

/// The file with the last event of which all messages are in the outbox.
struct WebhookPosition: Sendable {
    /// The path.
    let path: String

    /// The event; nil if there is none yet.
    func read() -> EventID? {
        let bytes = try? FileContents.read(path, atMost: 64)
        return bytes.flatMap { try? EventID(parsing: String(decoding: $0, as: UTF8.self)) }
    }

    /// Replaces the file.
    ///
    /// It is not synchronized: messages that are added again after a crash have the same keys.
    func write(_ id: EventID) throws(ToolError) {
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
            let descriptor = try Descriptor("open") { open(path + ".new", flags, 0o600) }
            do throws(OutputFailure) {
                try LineOutput(descriptor: descriptor.number).write(id.description)
            } catch .failed(let error) {
                throw error
            } catch {
                throw .init(code: EPIPE)
            }
            _ = try retryingOnInterrupt { rename(path + ".new", path) }
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
