import Glibc
public import ReachabilityCore

extension MonitorEngine {
    /// Asks the radios of the current path's WiFi carriers which network they are in, and how strong its signal is.
    ///
    /// nl80211 answers, on another thread than the event thread; it needs no privilege. Blocks the caller until then, which
    /// takes some microseconds unless a driver keeps the kernel busy; not to be called from the sink.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: One for each WiFi carrier that nl80211 knows, in their order; none where the path leads through none.
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` with ETIMEDOUT.
    public func wifiDetails(within timeout: Duration = .seconds(2)) throws(MonitorError) -> [WiFiDetails] {
        let gate = Gate<[WiFiDetails]>()
        let deadline = Clock.now.advanced(by: min(max(timeout, .zero), .seconds(86_400)))
        guard askRadios({ gate.open($0) }) else { throw MonitorError(.notRunning, errno: 0, "monitor") }
        guard let details = gate.wait(until: deadline) else { throw .radiosAreSilent }
        return details
    }

    /// The same without waiting: `answer` is called on another thread; false if the engine is not running.
    func askRadios(_ answer: @escaping @Sendable ([WiFiDetails]) -> Void) -> Bool {
        guard let run = try? currentRun() else { return false }
        return run.perform { $0.askRadios(answer: answer) }
    }
}

extension MonitorError {
    /// nl80211 did not answer in time.
    static var radiosAreSilent: Self { .init(.netlinkFailed, errno: ETIMEDOUT, "nl80211") }
}
