public import Reachability
public import ReachabilityCore

extension ReachabilityMonitor: Connectivity {
    /// Asks the kernel for the path of a socket that may only use paths which meet a requirement.
    ///
    /// - Throws: `ReachabilityError` if the monitor doesn't run, or the kernel doesn't reply.
    public func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        try lookup(destination, meeting: requirement)
    }

    /// As `subscribeToChanges(affecting:_:)`, for those who need not know what kind of watch it is.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        subscribeToChanges(affecting: destinations, body)
    }
}

extension Subscription: ConnectivityWatch {}
