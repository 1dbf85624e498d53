import Locking
public import ReachabilityCore

/// Reads how much the interfaces of an engine's network namespace have carried, on whichever thread asks.
public final class TrafficMeter: Sendable {
    private let socket: Lock<TrafficSocket>

    /// Opens its socket in the calling thread's namespace.
    init() throws(NetlinkError) {
        socket = .init(try TrafficSocket())
    }

    /// The counters of all interfaces: `RTM_GETSTATS`, or `RTM_GETLINK` of a kernel before Linux 4.7.
    ///
    /// Blocks the caller for some microseconds, or for as long as a driver holds the kernel's configuration lock.
    ///
    /// - Throws: ``MonitorError/Code/netlinkFailed`` if the kernel does not answer.
    public func read() throws(MonitorError) -> [TrafficMessage] {
        do throws(NetlinkError) {
            return try socket.withLock { socket throws(NetlinkError) in try socket.read() }
        } catch {
            throw MonitorError(error)
        }
    }
}

extension MonitorEngine {
    /// Opens a meter in the namespace that the engine watches; it outlives the engine's run.
    ///
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` if the kernel gives no socket.
    public func trafficMeter() throws(MonitorError) -> TrafficMeter {
        let opened: Result<TrafficMeter, MonitorError> = try currentRun().ask { _ in
            do throws(NetlinkError) { return .success(try TrafficMeter()) } catch { return .failure(.init(error)) }
        }
        return try opened.get()
    }
}
