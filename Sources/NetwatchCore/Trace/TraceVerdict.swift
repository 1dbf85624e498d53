package import ReachabilityCore

/// The result of a trace: how far packets come.
package enum TraceVerdict: Sendable, Hashable {
    /// The destination answers.
    case reached(hops: Int, roundTrip: Duration)
    /// A router, at this hop, rejects the packets or cannot deliver them.
    case rejected(ICMPError, by: IPAddress, hop: Int)
    /// Packets go in a circle of these routers, of which the first is this hop.
    case loop([IPAddress], hop: Int)
    /// Routers answer up to the largest number of hops, and there may be more.
    case tooFar(last: IPAddress, hop: Int)
    /// A router is the last that answers.
    case silentBeyond(IPAddress, hop: Int)
    /// Nothing answers.
    case silent
    /// The next hop, or a destination on the link, does not answer to ARP or neighbour discovery.
    case neighborSilent
    /// The time was up before the end of the path was known; the last router that answered.
    case timeUp(last: IPAddress?, hop: Int)
    /// The kernel sends no packet to the destination, with an errno.
    case noPath(errno: Int32)
    /// No packet can leave by the interface that was asked for.
    case unusable(ReachabilityReason)
    /// The destination is an address of this machine, so no packet leaves it.
    case thisMachine
}

extension TraceVerdict {
    /// Whether the destination answers; nil if no packet was sent to it.
    package var isReached: Bool? {
        switch self {
        case .reached, .thisMachine: true
        case .noPath, .unusable: nil
        default: false
        }
    }

    /// Evaluates the hops of a trace that has ended.
    ///
    /// - Parameters:
    ///   - hops: The hops.
    ///   - isTimeUp: Whether the deadline has ended it.
    ///   - probed: The number of hops that were probed.
    init(_ hops: TraceHops, isTimeUp: Bool, probed: Int) {
        if let end = hops.end {
            self.init(end: hops[end], of: hops)
            return
        }
        let last = hops.all.last(where: \.isRouter)
        let (address, number) = (last?.answer?.address, last?.number ?? 0)
        switch address {
        case _ where isTimeUp: self = .timeUp(last: address, hop: number)
        case nil: self = .silent
        case let address? where number == hops.all.count: self = .tooFar(last: address, hop: number)
        case let address?: self = .silentBeyond(address, hop: number)
        }
    }

    /// Evaluates the hop at which a path ends.
    private init(end: TraceHop, of hops: TraceHops) {
        switch end.answer?.meaning {
        case .destination: self = .reached(hops: end.number, roundTrip: end.answer?.roundTrip ?? .zero)
        case .rejection(let error):
            let sender = end.answer?.address ?? .init(ipv4: 0)
            // A router that answered as a hop before is known by that number.
            let hop = hops.all.last { $0.isRouter && $0.answer?.address == sender }
            self = .rejected(error, by: sender, hop: hop?.number ?? end.number)
        case .router, nil:
            let routers = hops.loopRouters
            let hop = hops.all.first { $0.answer.map { routers.contains($0.address) } ?? false }
            self = .loop(routers, hop: hop?.number ?? end.number)
        }
    }
}
