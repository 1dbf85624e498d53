public import Reachability
public import ReachabilityCore

extension ReachabilityMonitor: Connectivity {
    /// As `subscribeToChanges(affecting:_:)`, for those who need not know what kind of watch it is.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        subscribeToChanges(affecting: destinations, body)
    }
}

extension Subscription: ConnectivityWatch {}
