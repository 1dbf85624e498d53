public import ReachabilityCore

extension ReachabilityMonitor {
    /// Asks the kernel for the way to an address.
    ///
    /// ```swift
    /// let path = try monitor.path(to: address)
    /// print(path.interface?.name ?? "no route", path.gateway?.description ?? "on the link")
    /// ```
    ///
    /// The answer is the kernel's own (`RTM_GETROUTE`, rtnetlink(7)), with all rules and tables, completed by what the
    /// monitor knows of the links. Nothing is sent to the address. It takes some microseconds on the caller's thread.
    ///
    /// - Parameter destination: The address.
    /// - Returns: The way; where there is none, with the kernel's errno and the reason.
    /// - Throws: ``MonitorError`` if the monitor does not run, or the kernel does not answer.
    public func path(to destination: IPAddress) throws(MonitorError) -> DestinationPath {
        try source.path(to: destination)
    }

    /// Asks the kernel for the way to a host.
    ///
    /// ```swift
    /// let toServer = try await monitor.path(to: "192.0.2.7")
    /// let toName = try await monitor.path(to: "www.example.com", timeout: .seconds(2))
    /// ```
    ///
    /// Of a name's addresses, that of the first which is reachable, in the order of getaddrinfo(3); if none is, that of
    /// the first.
    ///
    /// - Parameters:
    ///   - host: An address, or a name; see ``paths(to:timeout:)`` for names.
    ///   - timeout: How long a name's look-up may take.
    /// - Returns: The way; where there is none, with the kernel's errno and the reason.
    /// - Throws: As ``paths(to:timeout:)``.
    public func path(to host: String, timeout: Duration = .seconds(5)) async throws -> DestinationPath {
        let paths = try await paths(to: host, timeout: timeout)
        guard let path = paths.first(where: \.isReachable) ?? paths.first else {
            throw NameResolutionError(host: host, code: .notFound)
        }
        return path
    }

    /// Asks the kernel for the ways to all addresses of a host, in the order of getaddrinfo(3).
    ///
    /// Names are looked up on a thread of the monitor's own, and as the program itself would: in its own network
    /// namespace, even if the monitor watches another.
    ///
    /// - Parameters:
    ///   - host: An address, or a name.
    ///   - timeout: How long a name's look-up may take. The system's resolver can't be interrupted: its thread ends
    ///     when it gives up by itself.
    /// - Returns: A way for each address, at least one.
    /// - Throws: ``NameResolutionError``, ``MonitorError``, or `CancellationError` if the task is cancelled.
    public func paths(to host: String, timeout: Duration = .seconds(5)) async throws -> [DestinationPath] {
        let addresses = try await NameResolver(threads: threads).addresses(of: host, within: timeout)
        return try addresses.map { address throws(MonitorError) in try path(to: address) }
    }
}
