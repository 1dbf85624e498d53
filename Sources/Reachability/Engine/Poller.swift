import CNetlink
import Glibc
import ReachabilityCore

/// An epoll(7) instance: tells which of a few descriptors can be read.
struct Poller: ~Copyable {
    private let descriptor: Descriptor

    init() throws(MonitorError) {
        descriptor = try Descriptor("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
    }

    /// What a descriptor is for.
    struct Sources: OptionSet {
        let rawValue: UInt64

        /// Another thread wants something.
        static let wakeUp = Self(rawValue: 1)
        /// The wall clock was set.
        static let clock = Self(rawValue: 2)
        /// The kernel's notifications.
        static let events = Self(rawValue: 4)
        /// The kernel's answers to dumps.
        static let replies = Self(rawValue: 8)
        /// The kernel's uevents.
        static let uevents = Self(rawValue: 16)
        /// What the kernel tells of WiFi.
        static let generic = Self(rawValue: 32)
    }

    /// Watches a descriptor until it is closed.
    func add(_ number: Int32, for source: Sources) throws(MonitorError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = source.rawValue
        guard epoll_ctl(descriptor.number, EPOLL_CTL_ADD, number, &event) == 0 else {
            throw MonitorError(.noResources, errno: errno, "epoll_ctl")
        }
    }

    /// Waits until something can be read, or the deadline has come; nil waits for ever.
    func wait(until deadline: Instant?) -> Sources {
        let timeout = Self.milliseconds(until: deadline)
        return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.capacity) { events in
            let count = epoll_wait(descriptor.number, events.baseAddress, Int32(events.count), timeout)
            var ready = Sources()
            for position in 0..<max(0, Int(count)) { ready.formUnion(.init(rawValue: events[position].data.u64)) }
            return ready
        }
    }

    /// Room for as many events as there are sources.
    private static let capacity = 6

    /// epoll_wait(2) counts in milliseconds: the next whole one, so as not to wake too early.
    static func milliseconds(until deadline: Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline.nanoseconds.subtractingReportingOverflow(Clock.now.nanoseconds)
        guard !left.overflow, left.partialValue > 0 else { return 0 }
        return Int32(clamping: (left.partialValue - 1) / 1_000_000 + 1)
    }
}
