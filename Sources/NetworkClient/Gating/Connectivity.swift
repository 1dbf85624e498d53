public import Reachability
public import ReachabilityCore

/// Knows the ways out of this machine: what a gate asks before it lets a request go.
///
/// `ReachabilityMonitor` is one; others stand for a network that tests make up, or is reached by other means.
public protocol Connectivity: Sendable {
    /// The state of the default path: read for every gated request, so as cheap as an atomic load.
    var status: ReachabilityStatus { get }

    /// The default path, or why there is none: for messages.
    var path: NetworkPath { get }

    /// The way of a socket that may only use paths which meet a requirement.
    ///
    /// Must not block for longer than some microseconds; not asked while ``status`` is `unknown`.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: What the path must be. Of several that meet it, the one that the kernel prefers.
    /// - Returns: The way, with the interface to bind to; or why there is none.
    /// - Throws: What keeps it from knowing; the request is then let go, if it has no requirement.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath

    /// Calls a closure whenever a lookup may give another answer than before: routes, rules, addresses, links, kinds.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes matter, beside the default paths.
    ///   - body: Called on any thread, soon after the change; several changes may come as one call. Also once as soon
    ///     as the destinations' routes are heard, for what has happened before. Must not block.
    /// - Returns: What to cancel when the destinations are others, or nobody waits any more.
    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch
}

/// A watch that can be ended.
public protocol ConnectivityWatch: Sendable {
    /// Ends it; the closure may be under way on another thread.
    func cancel()
}

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

/// Asks for ways, and while many are judged at once, asks for none twice.
///
/// Belongs to the session's event loop.
final class PathMemory {
    let connectivity: any Connectivity
    private var paths: [Question: DestinationPath] = [:]
    private var remembers = false

    private struct Question: Hashable {
        let destination: IPAddress
        let requirement: PathRequirement
    }

    init(_ connectivity: any Connectivity) { self.connectivity = connectivity }

    /// From now on an answer holds, until ``end()``.
    func begin() {
        paths = [:]
        remembers = true
    }

    /// From now on each question is asked.
    func end() {
        paths = [:]
        remembers = false
    }

    /// As ``Connectivity/path(to:requiring:)``.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let question = Question(destination: destination, requirement: requirement)
        if remembers, let path = paths[question] { return path }
        let path = try connectivity.path(to: destination, requiring: requirement)
        if remembers { paths[question] = path }
        return path
    }
}
