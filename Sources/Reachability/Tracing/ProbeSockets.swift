import CNetlink
import Glibc
package import LinuxSystem
package import ReachabilityCore

/// The probes of a trace that are under way, each with a socket of its own.
///
/// Confined to the thread that created it.
package final class ProbeSockets {
    private let target: TraceTarget
    private var open: [OpenProbe] = []

    /// A probe whose outcome is not known.
    private struct OpenProbe {
        var probe: TraceProbe
        var socket: ProbeSocket
        var sent: Instant
    }

    /// An outcome, and when it was known.
    package struct Arrival: Sendable, Hashable {
        /// The probe.
        package var probe: TraceProbe
        /// Its outcome.
        package var outcome: TraceOutcome
        /// When the answer was read.
        package var instant: Instant
    }

    /// The maximum time for a connection: the kernel sends the SYN again after a second, and one probe is to be one packet.
    private static let connectTimeout = Duration.milliseconds(950)

    /// Moves the calling thread into a network namespace, in which the sockets are opened.
    ///
    /// - Throws: ``ReachabilityError`` if the namespace cannot be entered.
    package init(to target: TraceTarget, in namespace: NetworkNamespace) throws(ReachabilityError) {
        try namespace.enter()
        self.target = target
    }

    /// Sends a probe.
    ///
    /// - Returns: The outcome if it is known already: the kernel refuses to send.
    package func send(_ probe: TraceProbe) -> TraceOutcome? {
        let socket: ProbeSocket
        do throws(SystemError) {
            socket = try ProbeSocket(to: target, hops: probe.hop)
        } catch {
            return .refused(errno: error.code)
        }
        do throws(SystemError) {
            let sent = SystemClock.now
            try socket.send(size: probe.size)
            open.append(.init(probe: probe, socket: socket, sent: sent))
            return nil
        } catch {
            return socket.outcome(of: error)
        }
    }

    /// Waits for outcomes.
    ///
    /// - Parameters:
    ///   - deadline: When to stop waiting.
    ///   - wakeup: What else ends the wait, and is cleared then.
    /// - Returns: The outcomes; none at the deadline or after a wakeup.
    package func wait(until deadline: Instant, or wakeup: Wakeup) -> [Arrival] {
        closeExpired()
        var entries = open.map { pollfd(fd: $0.socket.descriptor, events: $0.socket.events, revents: 0) }
        entries.append(pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0))
        let end = [deadline, nextExpiry].compactMap(\.self).min() ?? deadline
        guard poll(&entries, nfds_t(entries.count), end.pollTimeout) > 0 else { return [] }
        if entries.removeLast().revents != 0 { wakeup.clear() }
        return zip(open, entries).filter { $1.revents != 0 }.compactMap { probe, entry in
            take(probe, isOver: entry.revents & Int16(POLLHUP) != 0)
        }
    }

    /// Takes the outcome of a probe, if the event was one, and closes its socket then.
    ///
    /// - Parameters:
    ///   - probe: The probe.
    ///   - isOver: Whether nothing more comes from the socket in any case.
    /// - Returns: The outcome; nil if the event was none.
    private func take(_ probe: OpenProbe, isOver: Bool) -> Arrival? {
        let outcome = probe.socket.outcome()
        if outcome != nil || isOver { open.removeAll { $0.probe == probe.probe } }
        return outcome.map { .init(probe: probe.probe, outcome: $0, instant: SystemClock.now) }
    }

    private var nextExpiry: Instant? {
        target.transport == .udp ? nil : open.map(\.sent).min()?.advanced(by: Self.connectTimeout)
    }

    private func closeExpired() {
        guard let nextExpiry, nextExpiry <= SystemClock.now else { return }
        let limit = SystemClock.now.advanced(by: .zero - Self.connectTimeout)
        open.removeAll { $0.sent <= limit }
    }
}
