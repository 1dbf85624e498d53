public import Reachability
public import ReachabilityCore

/// A source of network paths, which a gate consults before it starts a request.
///
/// `ReachabilityMonitor` conforms; other types can represent a simulated network in tests, or one that
/// is reached by other means.
public protocol Connectivity: Sendable {
    /// The state of the default path. It is read for every gated request, so it must be as cheap as an atomic load.
    var status: ReachabilityStatus { get }

    /// The default path, or the reasons why there is none; for messages.
    var path: NetworkPath { get }

    /// Returns the path of a socket that may only use paths which meet a requirement.
    ///
    /// Must not block for more than a few microseconds; not called while ``status`` is `unknown`.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: The requirement on the path. If several paths meet it, the kernel's preferred one is returned.
    /// - Returns: The path, with the interface to bind to; or the reasons why there is none. With the status `unknown`,
    ///   requests that need it wait for the next change.
    /// - Throws: An error if the path can't be determined; a request without a requirement is then started, one with a
    ///   requirement looks again after a second.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath

    /// Returns the addresses of a host name; nil, the default, for those that the system's resolver finds.
    ///
    /// A simulated network returns addresses of its own, so that tests need no name server. Must not block.
    ///
    /// - Parameter host: The name, in lower case.
    /// - Returns: The addresses, to which paths are then looked up; nil to resolve the name.
    func addresses(of host: String) -> [IPAddress]?

    /// Calls a closure whenever the result of a lookup may have changed: routes, rules, addresses, links, interface
    /// kinds.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes matter, in addition to the default paths.
    ///   - body: Called on any thread, soon after the change; several changes may be coalesced into one call. Also
    ///     called once when the watch of the destinations' routes has started, for changes before that. Must not block.
    /// - Returns: The watch; cancel it when the destinations change, or when changes no longer matter.
    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch
}

extension Connectivity {
    /// Returns nil: names are resolved by the system.
    public func addresses(of host: String) -> [IPAddress]? { nil }
}

/// A watch that can be cancelled.
public protocol ConnectivityWatch: Sendable {
    /// Cancels the watch; the closure may still be running on another thread.
    func cancel()
}

extension ReachabilityMonitor: Connectivity {
    /// Looks up the path of a socket that may only use paths which meet a requirement.
    ///
    /// - Returns: The path, or the reasons why there is none; with the status `unknown` while the monitor has not read
    ///   everything that may hold one.
    /// - Throws: `ReachabilityError` if the monitor is not running, or the kernel does not reply.
    public func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        try knownPath(to: destination, meeting: requirement)
    }

    /// Calls ``subscribeToChanges(affecting:_:)``, with a type-erased result.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        subscribeToChanges(affecting: destinations, body)
    }
}

extension Subscription: ConnectivityWatch {}

/// Looks up paths, and caches the results while many keys are evaluated in one turn.
///
/// Confined to the session's event loop.
final class PathCache {
    let connectivity: any Connectivity
    private var paths: [Question: DestinationPath] = [:]
    /// Why a lookup failed since ``begin()``; each further one would block the loop for as long.
    private var failure: (any Error)?
    private var remembers = false

    /// What is not read yet may hold a path; a change follows when it is read.
    struct NotKnownYet: Error {}

    private struct Question: Hashable {
        let destination: IPAddress
        let requirement: PathRequirement
    }

    init(_ connectivity: any Connectivity) { self.connectivity = connectivity }

    /// Whether a lookup has failed since ``begin()``.
    var hasFailed: Bool { failure != nil }

    /// Caches results until ``end()``, of which the first failure is that of all lookups after it.
    func begin() {
        paths = [:]
        failure = nil
        remembers = true
    }

    /// Stops caching.
    func end() {
        paths = [:]
        failure = nil
        remembers = false
    }

    /// Returns the cached path, or that of ``Connectivity/path(to:requiring:)``.
    ///
    /// - Throws: The lookup's error, or ``NotKnownYet``.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let question = Question(destination: destination, requirement: requirement)
        if remembers, let path = paths[question] { return path }
        let path = try look(up: question)
        guard path.status != .unknown else { throw NotKnownYet() }
        if remembers { paths[question] = path }
        return path
    }

    private func look(up question: Question) throws -> DestinationPath {
        if let failure { throw failure }
        do {
            return try connectivity.path(to: question.destination, requiring: question.requirement)
        } catch {
            if remembers { failure = error }
            throw error
        }
    }
}
