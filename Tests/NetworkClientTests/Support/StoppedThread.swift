import Glibc
import NIOCore
import NIOPosix

/// Stops the thread of the event loop on which it is called, as if the process were stopped.
///
/// The loop reads no socket before the timers that are due meanwhile.
///
/// - Parameters:
///   - duration: The minimum time.
///   - isDone: Whether the peer has done its part.
func stopThread(for duration: Duration, until isDone: () -> Bool = { true }) {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end { usleep(1_000) }
    while !isDone(), ContinuousClock.now < end + .seconds(60) { usleep(1_000) }
}

extension Channel {
    /// Whether the kernel has received bytes that the channel has not read; called on its event loop.
    var hasUnreadBytes: Bool {
        let readyCount = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { socket -> Int32 in
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0)
        }
        return readyCount == 1
    }
}
