public import ReachabilityCore

extension ReachabilityMonitor {
    /// Asks the radios of the current path's WiFi carriers which network they are in, and how strong its signal is.
    ///
    /// ```swift
    /// for details in try await monitor.wifiDetails() {
    ///     print(details.ssid ?? "no name", details.bssid ?? "-", details.signal ?? 0, "dBm")
    /// }
    /// ```
    ///
    /// nl80211 answers (`NL80211_CMD_GET_INTERFACE`, `NL80211_CMD_GET_STATION`), without privilege. What it tells changes
    /// without a notice: ask when you want to know.
    ///
    /// - Parameter timeout: How long to wait; the kernel answers in microseconds, unless a driver keeps it busy.
    /// - Returns: One for each WiFi carrier; none where the path leads through none.
    /// - Throws: ``MonitorError`` if the monitor does not run or nl80211 does not answer in time; `CancellationError` if
    ///   the task is cancelled.
    public func wifiDetails(timeout: Duration = .seconds(2)) async throws -> [WiFiDetails] {
        let details = try await withDeadline(timeout) { try await self.answerOfRadios() }
        if let details { return details }
        try Task.checkCancellation()
        throw MonitorError.radiosAreSilent
    }

    /// The current path, with ``ReachabilityCore/NetworkPath/wifi`` as the radios tell it now.
    ///
    /// - Parameter timeout: As for ``wifiDetails(timeout:)``.
    /// - Returns: The path.
    /// - Throws: As ``wifiDetails(timeout:)``.
    public func detailedPath(timeout: Duration = .seconds(2)) async throws -> NetworkPath {
        let details = try await wifiDetails(timeout: timeout)
        var path = path
        // The path may have become another meanwhile.
        path.wifi = details.filter { path.carriers.contains($0.interface) }
        return path
    }

    private func answerOfRadios() async throws -> [WiFiDetails] {
        let stream = AsyncStream<[WiFiDetails]>.makeStream()
        let isAsked = source.askRadios { stream.continuation.yield($0) }
        guard isAsked else { throw MonitorError(.notRunning, errno: 0, "monitor") }
        for await details in stream.stream { return details }
        throw CancellationError()
    }
}
