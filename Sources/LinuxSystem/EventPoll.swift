import CLinux
import Glibc
package import ReachabilityCore

/// Waits for any of a few descriptors to become readable (epoll(7)).
package final class EventPoll: Sendable {
    private let handle: Descriptor

    /// The largest number of descriptors that one wait reports; the others are reported by the next.
    private static let capacity = 8

    /// Opens the instance.
    ///
    /// - Throws: The errno of epoll_create1(2).
    package init() throws(SystemError) {
        handle = try Descriptor("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    }

    /// Watches a descriptor until it is closed.
    ///
    /// The corresponding C function is `epoll_ctl`.
    ///
    /// - Parameters:
    ///   - number: The descriptor.
    ///   - mask: The bits that ``wait(until:)`` reports for it.
    /// - Throws: The errno of epoll_ctl(2).
    package func add(_ number: Int32, reporting mask: UInt64) throws(SystemError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = mask
        _ = try retryingOnInterrupt("epoll_ctl") { epoll_ctl(handle.number, EPOLL_CTL_ADD, number, &event) }
    }

    /// Waits until a descriptor is readable.
    ///
    /// The corresponding C function is `epoll_wait`.
    ///
    /// - Parameter deadline: When to stop waiting; nil for never.
    /// - Returns: The masks of the readable descriptors, combined; 0 if there is none.
    package func wait(until deadline: Instant?) -> UInt64 {
        let timeout = deadline?.pollTimeout ?? -1
        return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.capacity) { events in
            let count = epoll_wait(handle.number, events.baseAddress, Int32(events.count), timeout)
            var ready: UInt64 = 0
            for position in 0..<max(0, Int(count)) { ready |= events[position].data.u64 }
            return ready
        }
    }
}

extension Instant {
    /// The time until this moment in milliseconds, as poll(2) and epoll_wait(2) take it.
    ///
    /// Rounded up, so that a wait does not end before the moment; 0 if the moment has passed.
    package var pollTimeout: Int32 {
        let left = nanoseconds.subtractingReportingOverflow(SystemClock.now.nanoseconds)
        guard !left.overflow, left.partialValue > 0 else { return 0 }
        return Int32(clamping: (left.partialValue - 1) / 1_000_000 + 1)
    }
}
