import Glibc
import ReachabilityCore

extension LookupSocket {
    /// Looks up flows of sockets that are bound to interfaces, as connect(2) of such sockets would.
    ///
    /// IPv4 takes any destination for a neighbour of the interface where no route leads through it, and a connection then
    /// dies of ARP after some seconds. So each flow is also asked for its route in the table, which is refused then.
    /// IPv6 looks up again with the source that a bound socket gets, if there seems to be no route.
    ///
    /// - Parameter flows: Each bound, its source unspecified.
    /// - Returns: The kernel's answer for each flow, with the route that matched.
    /// - Throws: ``NetlinkError`` if the socket fails, or no answer comes.
    mutating func resolveBound(_ flows: [ProbeFlow]) throws(NetlinkError) -> [ProbeAnswer] {
        var ways = zip(flows, try askBound(flows)).map { BoundWay($0, $1) }
        for position in ways.indices { ways[position].selectSource() }
        let again = ways.indices.filter { ways[$0].needsSecondLookup }
        for (position, answers) in zip(again, try askBound(again.map { ways[$0].flow })) {
            ways[position].answers = answers
        }
        return ways.map(\.probeAnswer)
    }

    /// For each flow the way of its packets, and the route in its table.
    private mutating func askBound(_ flows: [ProbeFlow]) throws(NetlinkError) -> [(way: Answer, match: Answer)] {
        let questions = flows.flatMap { [Question(flow: $0), Question(flow: $0, matchesRoute: true)] }
        let answers = try ask(questions)
        return flows.indices.map { (answers[2 * $0], answers[2 * $0 + 1]) }
    }
}

/// A bound flow on its way to the final answer.
private struct BoundWay {
    var flow: ProbeFlow
    var answers: (way: LookupSocket.Answer, match: LookupSocket.Answer)
    var needsSecondLookup = false

    init(_ flow: ProbeFlow, _ answers: (way: LookupSocket.Answer, match: LookupSocket.Answer)) {
        self.flow = flow
        self.answers = answers
    }

    /// Rules on the source see it in the second look-up only; and IPv6 may have a route for that source alone.
    mutating func selectSource() {
        switch (flow.family, answers.way, answers.match) {
        case (.ipv4, .route(let way), .route):
            flow.source = way.preferredSource ?? flow.source
        case (.ipv6, .refused, _):
            guard case .success(let source)? = ConnectProbe(boundTo: flow.interface)?.connect(to: flow.destination)
            else { return }
            flow.source = source
        default: return
        }
        needsSecondLookup = !flow.source.isUnspecified
    }

    var probeAnswer: ProbeAnswer {
        guard case .route(let way) = answers.way, case .route(let match) = answers.match else { return refusal }
        var selection = RouteSelection(way, source: flow.source)
        selection.metric = match.metric
        if flow.family == .ipv6, selection.leg.source == nil {
            return .init(.refused(errno: EADDRNOTAVAIL, .noSource))
        }
        // With a source, IPv6's look-up is not strict about the interface; the socket itself is.
        if flow.family == .ipv6, needsSecondLookup, let interface = flow.interface {
            selection.leg.interface = interface
        }
        return .init(.selected(selection), matched: match.destination, isMultipath: match.legs.count > 1)
    }

    private var refusal: ProbeAnswer {
        guard case .refused(let errno) = answers.match else { return .init(.refused(errno: EHOSTUNREACH, .noRoute)) }
        if needsSecondLookup {
            // IPv6's source is that of a socket which connected.
            let connectedSource = flow.family == .ipv6 ? flow.source : nil
            return .init(.refused(errno: errno, .sourceRule), connectedSource: connectedSource)
        }
        // What IPv4 says of a route that it would have to invent; an unreachable route gives the same.
        let isInvented = flow.family == .ipv4 && errno == EHOSTUNREACH
        return .init(.refused(errno: errno, isInvented ? .noRoute : .init(lookupErrno: errno)))
    }
}
