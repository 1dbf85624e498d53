extension ReachabilityMonitor {
    /// The model of the machine's network and how the verdict came about, once they agree with the kernel.
    ///
    /// - Parameter timeout: How long to wait for an agreement; after that, the view as it is.
    /// - Returns: The view; ``MonitorView/isSettled`` tells whether they agreed.
    /// - Throws: ``MonitorError/Code/notRunning`` if the monitor does not run, or is stopped meanwhile.
    public func view(within timeout: Duration = .seconds(5)) async throws(MonitorError) -> MonitorView {
        let result = await withUnsafeContinuation { continuation in
            // The engine's call blocks: it must not do so on the caller's executor.
            threads.enqueue {
                let result = Result { () throws(MonitorError) in try self.source.view(within: timeout) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}
