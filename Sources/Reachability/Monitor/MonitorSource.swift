import ReachabilityCore

/// What a monitor needs of the engine below it; tests put a source of their own in its place.
protocol MonitorSource: Sendable {
    /// How often things happened.
    var counters: MonitorCounters { get }

    /// As ``MonitorEngine/start()``.
    func start() throws(MonitorError)

    /// As ``MonitorEngine/stop()``.
    func stop()

    /// As ``MonitorEngine/perform(_:)``.
    func perform(_ job: @escaping @Sendable () -> Void) -> Bool

    /// As ``MonitorEngine/view(within:)``.
    func view(within timeout: Duration) throws(MonitorError) -> MonitorView

    /// As ``MonitorEngine/path(to:)``.
    func path(to destination: IPAddress) throws(MonitorError) -> DestinationPath

    /// As ``MonitorEngine/path(to:requiring:)``.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws(MonitorError) -> DestinationPath

    /// As ``MonitorEngine/askRadios(_:)``.
    func askRadios(_ answer: @escaping @Sendable ([WiFiDetails]) -> Void) -> Bool

    /// As ``MonitorEngine/watch(_:_:)``.
    func watch(
        _ destination: IPAddress,
        _ body: @escaping @Sendable (DestinationPath) -> Void
    ) -> DestinationWatch

    /// As ``MonitorEngine/watch(_:_:)`` for any change.
    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> DestinationWatch
}

extension MonitorEngine: MonitorSource {}
