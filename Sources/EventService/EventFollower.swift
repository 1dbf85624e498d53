import Glibc
import LinuxSystem
import Locking
import ReachabilityCore
import Synchronization

/// Follows the events of a service on a thread of its own, and connects again after each end.
final class EventFollower: Sendable {
    private struct State {
        var latest: NetwatchEvent?
        var path = NetworkPath(status: .unknown, reasons: [.reading])
        var failure: String? = "not connected yet"
        var mailboxes: [EventMailbox] = []
        var observers: [UInt64: @Sendable () -> Void] = [:]
        var lastObserver: UInt64 = 0
        var isStopped = false
    }

    private let socket: String
    private let state = Lock(State())
    private let statusValue = Atomic<Int8>(ReachabilityStatus.unknown.rawValue)
    private let wakeup = try? Wakeup()

    /// The time without data after which the connection counts as lost: the service sends a comment every 30 s.
    private static let idleTimeout = Duration.seconds(75)
    /// The wait before the first attempt to connect again; it doubles with each failure.
    private static let firstDelay = Duration.milliseconds(100)
    private static let longestDelay = Duration.seconds(5)

    init(socket: String) { self.socket = socket }

    /// Starts the thread.
    func start() {
        do throws(SystemError) {
            guard wakeup != nil else { throw .init(code: EMFILE) }
            try SystemThread.detach("netwatch-events", stackSize: 256 << 10) { [self] in run() }
        } catch {
            state.withLock { $0.failure = "cannot start a thread: \(error)" }
        }
    }

    /// Ends the thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup?.signal()
    }

    // MARK: What is known

    var status: ReachabilityStatus { .init(rawValue: statusValue.load(ordering: .acquiring)) ?? .unknown }
    var path: NetworkPath { state.withLock { $0.path } }
    var latest: NetwatchEvent? { state.withLock { $0.latest } }
    var failure: String? { state.withLock { $0.failure } }

    func openMailbox() -> EventMailbox {
        let mailbox = EventMailbox()
        state.withLock { state in
            if let latest = state.latest {
                mailbox.put(.init(id: latest.id, change: latest.change, validation: latest.validation))
            }
            state.mailboxes.append(mailbox)
        }
        return mailbox
    }

    func close(_ mailbox: EventMailbox) { state.withLock { $0.mailboxes.removeAll { $0 === mailbox } } }

    func add(_ observer: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = observer
            return state.lastObserver
        }
    }

    func remove(_ observer: UInt64) {
        let removed = state.withLock { $0.observers.removeValue(forKey: observer) }
        withExtendedLifetime(removed) {}
    }

    // MARK: The thread

    private func run() {
        var delay = Self.firstDelay
        while !state.withLock({ $0.isStopped }) {
            let number = latest?.change.sequence
            do throws(SystemError) {
                try follow()
                note(failure: "the service closed the connection")
            } catch {
                note(failure: "cannot follow the events of '\(socket)': \(error)")
            }
            // After an event, the service was there.
            delay = latest?.change.sequence == number ? min(delay * 2, Self.longestDelay) : Self.firstDelay
            pause(delay * Double.random(in: 0.5...1))
        }
    }

    private func pause(_ delay: Duration) {
        _ = wakeup?.wait(until: SystemClock.now.advanced(by: delay))
    }

    /// Follows the events until the connection ends.
    private func follow() throws(SystemError) {
        var connection = try EventSocket(path: socket)
        let last = latest?.id
        try connection.send("/v1/events", ["Accept: text/event-stream"] + (last.map { ["Last-Event-ID: \($0)"] } ?? []))
        // A connection over the limit of a user is served later, without a response until then.
        guard try connection.status(wakeup) == 200 else { throw .init(code: EPROTO) }
        var stream = EventStream()
        resume()
        while let line = try connection.line(Self.idleTimeout, wakeup) {
            if let event = stream.take(line) { publish(event) }
        }
    }

    /// The state from before a lost connection counts again, unless an event says otherwise.
    private func resume() {
        let observers = state.withLock { state in
            state.failure = nil
            guard let latest = state.latest else { return [@Sendable () -> Void]() }
            state.path = latest.change.path
            statusValue.store(latest.change.status.rawValue, ordering: .releasing)
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    private func publish(_ event: NetwatchEvent) {
        let observers = state.withLock { state in
            state.latest = event
            state.path = event.change.path
            statusValue.store(event.change.status.rawValue, ordering: .releasing)
            for mailbox in state.mailboxes { mailbox.put(event) }
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    private func note(failure: String) {
        let observers = state.withLock { state in
            state.failure = failure
            statusValue.store(ReachabilityStatus.unknown.rawValue, ordering: .releasing)
            if state.latest != nil { state.path = .init(status: .unknown, reasons: [.notStarted]) }
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }
}
