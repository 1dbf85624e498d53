// Programs that import EventService use statuses, paths, reasons and verdicts without a second import.
@_exported public import ReachabilityCore
@_exported public import ValidationCore

/// The events of the machine's event service, `netwatch serve`.
///
/// ```swift
/// import EventService
///
/// for await event in NetwatchEvents() {
///     print(event.change.status.name, event.change.path.interface?.name ?? "no interface")
/// }
/// ```
///
/// A program that may not open a netlink socket, for example in a sandbox, follows the network through the service instead of
/// a `ReachabilityMonitor`. Each iteration begins with the newest event and continues with every one that follows, in order.
/// After a lost connection, or a restart of the service, it continues where it was; events that are missing are reported by
/// ``NetwatchEvent/gap``. The sequence ends only when the iterating task is cancelled.
///
/// The connection is made in the background, on one thread for all iterations, and made again when it is lost: the service
/// may be started later than the program. It ends when this object and its iterators are released.
///
/// **Isolation**: everything here may be used on any thread.
public final class NetwatchEvents: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never
    /// An event.
    public typealias Element = NetwatchEvent

    /// The socket on which the service listens by default.
    public static let usualSocket = "/run/netwatch/events.sock"

    private let follower: EventFollower

    /// Connects to a service.
    ///
    /// - Parameter socket: The path of the service's Unix socket.
    public init(socket: String = NetwatchEvents.usualSocket) {
        follower = EventFollower(socket: socket)
        follower.start()
    }

    deinit { follower.stop() }

    /// The current state: an atomic load; `unknown` while there is no connection.
    public var status: ReachabilityStatus { follower.status }

    /// The current default path, or the reasons why there is none; `monitor.reading` until the service has been reached for
    /// the first time, and `monitor.notStarted` after a connection was lost.
    public var path: NetworkPath { follower.path }

    /// The newest event; nil before the first.
    public var latestEvent: NetwatchEvent? { follower.latest }

    /// Why there is no connection; nil if there is one.
    public var connectionFailure: String? { follower.failure }

    /// Begins an iteration, with the newest event.
    public func makeAsyncIterator() -> AsyncIterator { .init(self, follower.openMailbox()) }

    /// Calls a closure, on the thread of the connection, when ``status`` or ``path`` may have changed.
    ///
    /// - Returns: The observation, which ends when it is released.
    package func observe(_ body: @escaping @Sendable () -> Void) -> EventObservation {
        let number = follower.add(body)
        return EventObservation { [follower] in follower.remove(number) }
    }

    /// Takes one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: NetwatchEvents
        private let lease: MailboxLease

        fileprivate init(_ events: NetwatchEvents, _ mailbox: EventMailbox) {
            self.events = events
            lease = .init(mailbox: mailbox, follower: events.follower)
        }

        /// Returns the next event, as soon as there is one; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NetwatchEvent? {
            await lease.mailbox.next()
        }

        /// Returns the next event, as soon as there is one; nil when the task is cancelled.
        public mutating func next() async -> NetwatchEvent? { await lease.mailbox.next() }
    }
}

/// Closes a mailbox with its iterator.
private final class MailboxLease: Sendable {
    let mailbox: EventMailbox
    private let follower: EventFollower

    init(mailbox: EventMailbox, follower: EventFollower) {
        self.mailbox = mailbox
        self.follower = follower
    }

    deinit { follower.close(mailbox) }
}

/// Keeps a closure informed of changes; ends when it is cancelled or released.
package final class EventObservation: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation; the closure may still be running on another thread.
    package func cancel() { end() }
}
