import Glibc
import NetworkLab
@testable import ReachabilityCore

/// The kernel's results for one probe: its lookups, and a real socket.
struct KernelResults: Equatable {
    /// `RTM_GETROUTE` without a source.
    var first: KernelResult
    /// The source of the second lookup; nil if there is none to be made.
    var boundSource: IPAddress?
    /// `RTM_GETROUTE` with the source that the first one gave (IPv4), or that is selected when it failed (IPv6).
    var second: KernelResult?
    /// connect(2) of an unbound UDP socket.
    var connection: ConnectOutcome

    /// Looks the probe up and connects a socket.
    ///
    /// - Parameters:
    ///   - flow: The probe.
    ///   - lab: The namespace.
    ///   - snapshot: The model that selects the source for IPv6's second lookup, which the kernel does not report.
    /// - Throws: Errors that are no result of the routing decision.
    init(_ flow: ProbeFlow, in lab: LabNamespace, _ snapshot: NetworkSnapshot) throws {
        first = try .init(flow, lab.rtnl)
        switch (flow.family, first) {
        case (.ipv4, .route(let route)): boundSource = route.preferredSource
        case (.ipv6, .refused):
            let model = LookupModel(snapshot, at: .init(nanoseconds: 0))
            boundSource = model.ipv6Source(to: flow.destination, through: nil)
        default: boundSource = nil
        }
        if let boundSource {
            var bound = flow
            bound.source = boundSource
            second = try .init(bound, lab.rtnl)
        }
        connection = try lab.connectUDP(
            to: flow.destination,
            port: flow.destinationPort,
            sourcePort: flow.sourcePort
        )
    }
}

/// The reply to one `RTM_GETROUTE`.
enum KernelResult: Equatable {
    case route(RouteMessage)
    case refused(errno: Int32)

    init(_ flow: ProbeFlow, _ rtnl: Rtnl) throws {
        do throws(LabError) {
            var route = try rtnl.lookup(flow)
            route.lifetime = nil
            self = .route(route)
        } catch {
            guard error.errno != EBADMSG, error.errno != ETIMEDOUT else { throw error }
            self = .refused(errno: error.errno)
        }
    }
}
