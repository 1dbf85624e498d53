package import ReachabilityCore
package import ValidationCore

/// An event that affects a ``ValidationState``.
package enum ValidationEvent: Sendable, Hashable {
    /// The path has changed; nil if there is none.
    case pathChanged(ValidationPath?)
    /// The kernel reports that a neighbour does not answer (NUD_FAILED); only gateways of the path count.
    case gatewayFailed(IPAddress, InterfaceIndex)
    /// A request over the path was answered with 2xx; authenticated if it was one over https.
    case requestSucceeded(path: UInt64, isAuthenticated: Bool)
    /// A request over the path has failed without an answer.
    case requestFailed(path: UInt64)
    /// A network has announced the URI of its portal's API (RFC 8910), or that it has none: what is no https URL.
    case portalAnnounced(String, InterfaceIndex, by: AnnouncementSource = .router)
    /// A network has announced the prefix of a translator, and for how long it is valid (RFC 8781); zero withdraws it.
    case translatorAnnounced(NAT64Prefix, lifetime: Duration, InterfaceIndex)
    /// A name server has revealed these prefixes on the path (RFC 7050); nil if none has answered.
    case translatorFound(path: UInt64, [NAT64Prefix]?)
    /// Somebody asks for a round of probes, and awaits its end.
    case checkRequested
    /// Requests begin or cease to wait until the path is validated.
    case demandChanged(Bool)
    /// A probe has ended: its round, the position of its endpoint, and what it observed.
    case answered(round: UInt64, position: Int, ProbeOutcome)
    /// The portal's API has replied; nil if it did not, or not usably.
    case portalReplied(round: UInt64, PortalReply?)
}

/// An action that a ``ValidationState`` requests.
package enum ValidationAction: Sendable, Hashable {
    /// Probe the endpoint at this position, bound to the path's interface, and report what was observed.
    case probe(round: UInt64, position: Int)
    /// Ask the portal's API, bound to the path's interface, and report its reply.
    case askPortal(round: UInt64, url: String)
    /// Ask a name server for a translator's prefix, bound to the path's interface, and report its answer.
    case findTranslator(path: UInt64)
    /// End the round's probes that are under way; their answers no longer count.
    case cancel(round: UInt64)
    /// Tell subscribers of a change.
    case publish(ValidationReport)
    /// Return this report to all who have asked for a check.
    case endChecks(ValidationReport)
}
