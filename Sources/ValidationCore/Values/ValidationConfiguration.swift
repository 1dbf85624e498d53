/// When a path is probed, and what with.
///
/// A path is probed when it changes, when a request over it has failed, and when its gateway does not answer; while it is not
/// validated, again after pauses that grow. A path that works and does not change is never probed.
public struct ValidationConfiguration: Sendable, Hashable {
    /// The servers, the most important first: if it answers, the others are not asked.
    ///
    /// Without any, nothing is probed.
    ///
    /// With one endpoint, its own outage can't be told from that of the path. Two at different places can.
    public var endpoints: [ValidationEndpoint]
    /// The time after which an endpoint counts as silent; 5 seconds by default, which survives the loss of packets.
    public var timeout: Duration
    /// The time after which the other endpoints are asked too if the first is silent; 1 second by default.
    public var secondOpinionDelay: Duration
    /// The minimum time between two rounds of probes that nobody asked for, and the first pause; 1 second by default.
    public var minimumInterval: Duration
    /// The longest pause between rounds while the path is not validated; 10 minutes by default.
    public var maximumInterval: Duration
    /// The number of probes that may be sent in 24 hours without being asked for; 200 by default.
    ///
    /// The second half of them is spread over the day, so that a path that comes and goes does not use up all of them.
    public var probesPerDay: Int
    /// Whether metered paths are probed without being asked for; false by default.
    public var probesMeteredPaths: Bool
    /// The number of rounds in succession that must fail before a path that was validated counts as one without
    /// internet; 2 by default.
    ///
    /// One is enough if a gateway or router reports that it can't deliver, and after a change of the path.
    public var failuresBeforeLoss: Int

    /// Creates a configuration; the properties describe the parameters.
    ///
    /// Values below the possible minimum are raised to it.
    public init(
        endpoints: [ValidationEndpoint],
        timeout: Duration = .seconds(5),
        secondOpinionDelay: Duration = .seconds(1),
        minimumInterval: Duration = .seconds(1),
        maximumInterval: Duration = .seconds(600),
        probesPerDay: Int = 200,
        probesMeteredPaths: Bool = false,
        failuresBeforeLoss: Int = 2
    ) {
        self.endpoints = endpoints
        self.timeout = max(timeout, .milliseconds(1))
        self.secondOpinionDelay = max(secondOpinionDelay, .zero)
        self.minimumInterval = max(minimumInterval, .milliseconds(1))
        self.maximumInterval = max(maximumInterval, self.minimumInterval)
        self.probesPerDay = max(probesPerDay, 0)
        self.probesMeteredPaths = probesMeteredPaths
        self.failuresBeforeLoss = max(failuresBeforeLoss, 1)
    }
}
