import DurableStore
import Locking
import Outbox
import OutboxCore

/// The machine's clocks, as a test sets them; the time zone is UTC.
final class LabClock: Sendable {
    private let reading: Lock<ClockReading>

    /// Creates clocks, at noon of a day in 2026.
    init(isSynchronized: Bool = true) {
        let noon: Int64 = (20_000 * 86_400 + 43_200) * 1_000_000_000
        reading = Lock(.init(bootIdentifier: "lab", sinceBoot: 0, wall: noon, isSynchronized: isSynchronized))
    }

    var machine: MachineClock {
        .init(read: { self.reading.withLock { $0 } }, secondOfDay: { Int($0 / 1_000_000_000 % 86_400) })
    }

    /// Lets time pass.
    func advance(by duration: Duration) {
        reading.withLock {
            $0.sinceBoot += duration.wholeNanoseconds
            $0.wall += duration.wholeNanoseconds
        }
    }

    /// Sets whether the wall clock is synchronized.
    func setSynchronized(_ isSynchronized: Bool) { reading.withLock { $0.isSynchronized = isSynchronized } }
}

extension OutboxLab {
    /// Opens an outbox with given clocks.
    func open(_ clock: LabClock, sends: Bool = true) async throws -> Outbox {
        try await Outbox(at: path, session, .init(minimumFreeSpace: 0, sends: sends), clock: clock.machine)
    }
}

extension Outbox {
    /// Wakes the sender, as a change by another process does.
    func wake() async throws { try await storage.store.write { _ in } }
}
