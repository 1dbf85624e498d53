import Glibc
import ReachabilityCore

extension LookupSocket {
    /// Looks up the probe addresses as connect(2) of a user's UDP sockets would.
    ///
    /// - Parameters:
    ///   - user: Whose sockets.
    ///   - detail: Ask also from which route each answer comes, and with which metric, and for the last word.
    /// - Returns: The kernel's answers.
    /// - Throws: ``NetlinkError`` if the socket fails, or no answer comes.
    mutating func probe(user: UInt32, detail: Bool) throws(NetlinkError) -> ProbeAnswers {
        let ipv4 = ProbeAddresses.ipv4.map { ProbeFlow(to: $0, user: user) }
        let ipv6 = ProbeAddresses.ipv6.map { ProbeFlow(to: $0, user: user) }
        let answers = try resolve(ipv4 + ipv6, detail: detail, connects: detail)
        return .init(ipv4: Array(answers[..<ipv4.count]), ipv6: Array(answers[ipv4.count...]))
    }

    /// Looks up flows without a source; then again as connect(2) would, with the source that the kernel selects.
    ///
    /// IPv4 looks up again with the selected source, which rules on the source see only then; IPv6 does so where the
    /// first look-up fails.
    ///
    /// - Parameters:
    ///   - flows: What the sockets would do, their sources unspecified.
    ///   - detail: Ask also from which route each answer comes, and with which metric.
    ///   - connects: Go on to the end where the first look-up of IPv6 fails. To select a source the kernel then looks
    ///     at every address of the machine.
    /// - Returns: The kernel's answer for each flow.
    /// - Throws: ``NetlinkError`` if the socket fails, or no answer comes.
    mutating func resolve(
        _ flows: [ProbeFlow],
        detail: Bool = false,
        connects: Bool = true
    ) throws(NetlinkError) -> [ProbeAnswer] {
        var results = zip(flows, try ask(flows.map { Question(flow: $0) })).map(Resolution.init)
        for position in results.indices { results[position].selectSource(self, connects: connects) }
        let again = results.indices.filter { results[$0].needsSecondLookup }
        let explained = detail ? results.indices.filter { results[$0].isRoute } : []
        var questions = again.map { Question(flow: results[$0].flow) }
        questions += explained.map { Question(flow: results[$0].flow, matchesRoute: true) }
        let answers = try ask(questions)
        for (position, answer) in zip(again, answers) { results[position].answer = answer }
        for (position, answer) in zip(explained, answers[again.count...]) { results[position].match = answer }
        return results.map(\.probeAnswer)
    }

    /// One flow on its way to the final answer.
    private struct Resolution {
        var flow: ProbeFlow
        var answer: Answer
        var match: Answer?
        var needsSecondLookup = false
        var isFinal = true

        init(flow: ProbeFlow, answer: Answer) {
            self.flow = flow
            self.answer = answer
        }

        /// Whether the final look-up has a route to explain, or may yet find one.
        var isRoute: Bool {
            if case .route = answer { return true }
            return needsSecondLookup
        }

        mutating func selectSource(_ socket: borrowing LookupSocket, connects: Bool) {
            switch answer {
            case .route(let message):
                guard flow.family == .ipv4, let source = message.preferredSource else { return }
                flow.source = source
                needsSecondLookup = true
            case .refused:
                guard flow.family == .ipv6 else { return }
                if connects { connect(socket) } else { isFinal = false }
            }
        }

        private mutating func connect(_ socket: borrowing LookupSocket) {
            switch socket.connect(flow.destination) {
            case .success(let source)?:
                flow.source = source
                needsSecondLookup = true
            // A filter on connect(2), such as a control group's, says nothing about routes.
            case .failure(let refusal)? where refusal.errno != EPERM: answer = .refused(errno: refusal.errno)
            case .failure?, nil: return
            }
        }

        /// The source of the socket that connected, in spite of a look-up with that very source.
        private var connectedSource: IPAddress? {
            flow.family == .ipv6 && needsSecondLookup ? flow.source : nil
        }

        var probeAnswer: ProbeAnswer {
            guard case .route(let message) = answer else {
                guard case .refused(let errno) = answer else { return .init(.refused(errno: 0, .noRoute)) }
                let reason = needsSecondLookup ? .sourceRule : Reason(lookupErrno: errno)
                return .init(.refused(errno: errno, reason), isFinal: isFinal, connectedSource: connectedSource)
            }
            var selection = RouteSelection(message, source: flow.source)
            if flow.family == .ipv6, selection.leg.source == nil {
                return .init(.refused(errno: EADDRNOTAVAIL, .noSource))
            }
            guard case .route(let matched)? = match else { return .init(.selected(selection)) }
            selection.metric = matched.metric
            return .init(.selected(selection), matched: matched.destination, isMultipath: matched.legs.count > 1)
        }
    }
}

extension RouteSelection {
    /// The kernel's answer to a look-up; with a source in the question, the answer does not repeat it.
    init(_ message: RouteMessage, source: IPAddress) {
        let leg = message.legs.first
        self.init(
            table: message.table,
            type: message.type,
            metric: message.metric,
            leg: .init(
                interface: leg?.interface ?? 0,
                gateway: leg?.gateway,
                source: source.isUnspecified ? message.preferredSource : source
            )
        )
    }
}

extension Reason {
    /// What a refused look-up's errno says by itself.
    init(lookupErrno errno: Int32) {
        switch errno {
        case LookupErrno.accessDenied: self = .prohibited
        case LookupErrno.invalid: self = .blackhole
        case LookupErrno.addressNotAvailable: self = .noSource
        case LookupErrno.hostUnreachable: self = .unreachable
        default: self = .noRoute
        }
    }
}
