public import NetworkClient
public import ServiceLifecycle

/// Shuts an HTTP session down with the services of a `ServiceGroup`.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [HTTPSessionService(session), application],
///     gracefulShutdownSignals: [.sigterm],
///     logger: logger
/// )
/// try await group.run()
/// ```
/// A group shuts its services down in reverse order: a session comes before the services that use it.
public struct HTTPSessionService: Service {
    private let session: HTTPSession
    private let limit: Duration
    private let unfinished: @Sendable ([RequestHandle]) async -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - limit: The time for unfinished requests after a graceful shutdown was triggered; the rest is cancelled. If the
    ///     group is cancelled instead, all are cancelled immediately.
    ///   - unfinished: Called with the cancelled requests, if there are any, before the service ends.
    public init(
        _ session: HTTPSession,
        within limit: Duration = .seconds(10),
        unfinished: @escaping @Sendable ([RequestHandle]) async -> Void = { _ in }
    ) {
        self.session = session
        self.limit = limit
        self.unfinished = unfinished
    }

    /// Waits for the shutdown, and then shuts the session down as `HTTPSession.shutdown(within:)` does.
    public func run() async {
        // A cancellation ends the wait too, and the requests with it.
        try? await gracefulShutdown()
        let cancelled = await session.shutdown(within: limit)
        if !cancelled.isEmpty { await unfinished(cancelled) }
    }
}
