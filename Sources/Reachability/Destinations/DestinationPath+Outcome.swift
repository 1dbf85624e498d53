public import ReachabilityCore

extension DestinationPath {
    /// Whether the kernel has a way to the destination, and the link it leaves through can carry it.
    public var isReachable: Bool { status.isReachable }

    /// The next hop; nil if the destination is taken to be on the link, or there is no route.
    public var gateway: IPAddress? { selection?.leg.gateway }

    /// The source address that the kernel selects; nil if there is no route.
    public var source: IPAddress? { selection?.leg.source }

    /// The errno with which the kernel refuses (errno(3)); nil if it selects a route.
    public var errno: Int32? {
        guard case .refused(let errno, _) = outcome else { return nil }
        return errno
    }

    private var selection: RouteSelection? {
        guard case .selected(let selection) = outcome else { return nil }
        return selection
    }
}
