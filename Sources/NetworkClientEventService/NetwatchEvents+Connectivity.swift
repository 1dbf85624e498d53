public import EventService
public import NetworkClient
public import Reachability
public import ReachabilityCore

/// The event service as what a session's requests wait for, in place of a monitor of the program's own.
///
/// ```swift
/// let configuration = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(60)), connectivity: NetwatchEvents())
/// let session = try HTTPSession(baseURL: "https://api.example.com", configuration: configuration)
/// ```
///
/// The service knows the default paths. While the machine is not reachable, an address that may be on a local network counts
/// as one whose path is not known, so that a request without a requirement is started.
extension NetwatchEvents: Connectivity {
    /// Returns the path to an address: the default path of its family, if that meets the requirement.
    ///
    /// - Throws: ``PathNotKnown`` for an address on the machine or on a local network.
    public func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let path = path
        guard !destination.isLocal else { throw PathNotKnown() }
        let family = destination.family == .ipv4 ? path.ipv4 : path.ipv6
        guard let family else {
            let reasons = path.reasons.isEmpty ? [ReachabilityReason.noRoute] : path.reasons
            return .init(
                destination: destination,
                status: .notReachable,
                outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute),
                reasons: reasons
            )
        }
        let isAllowed = requirement.allows(family.interface, over: family.carriers, isExpensive: family.isExpensive)
        return isAllowed ? Self.path(to: destination, family) : Self.refused(destination, family)
    }

    /// Calls a closure after each change of the state or the path.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let watch = observe(body)
        if !destinations.isEmpty { body() }
        return watch
    }

    private static func path(to destination: IPAddress, _ family: FamilyPath) -> DestinationPath {
        .init(
            destination: destination,
            status: family.status,
            interface: family.interface,
            carriers: family.carriers,
            outcome: .selected(.init(table: family.table, nextHop: .init(interface: family.interface.index))),
            isExpensive: family.isExpensive
        )
    }

    private static func refused(_ destination: IPAddress, _ family: FamilyPath) -> DestinationPath {
        .init(
            destination: destination,
            status: .notReachable,
            outcome: .refused(errno: LookupErrno.networkUnreachable, .notAllowed),
            reasons: [.notAllowed],
            ruledOut: [.init(family.interface, .notAllowed)]
        )
    }
}

extension EventObservation: ConnectivityWatch {}

/// The error for an address whose path the event service does not know.
public struct PathNotKnown: Error, CustomStringConvertible {
    /// The cause, and what to do.
    public let description =
        "the event service knows the default paths only; use a ReachabilityMonitor for local networks"

    init() {}
}

extension IPAddress {
    /// Whether an address may be on this machine or on a local network: loopback, link-local or private (RFC 1918, RFC 4193).
    fileprivate var isLocal: Bool {
        let isPrivate =
            switch family {
            case .ipv4: bits >> 120 == 10 || bits >> 116 == 0xAC1 || bits >> 112 == 0xC0A8
            case .ipv6: bits >> 121 == 0x7E
            }
        return isPrivate || isLoopback || isLinkLocal
    }
}
