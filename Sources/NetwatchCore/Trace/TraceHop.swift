package import ReachabilityCore

/// The findings on one hop of a path.
package struct TraceHop: Sendable, Hashable {
    /// The number of the hop, from 1.
    package var number: Int
    /// The reply; nil if there is none.
    package var answer: Answer?
    /// The sender of a reply that probes were too big, and the size that it allows, before others passed.
    package var narrowing: Narrowing?

    /// Creates a hop.
    package init(_ number: Int, answer: Answer? = nil, narrowing: Narrowing? = nil) {
        self.number = number
        self.answer = answer
        self.narrowing = narrowing
    }

    /// The reply to a probe.
    package struct Answer: Sendable, Hashable {
        /// The sender of the reply.
        package var address: IPAddress
        /// The time from the probe to the reply.
        package var roundTrip: Duration
        /// Its meaning for the path.
        package var meaning: Meaning

        /// Creates a reply.
        package init(_ address: IPAddress, _ meaning: Meaning, roundTrip: Duration) {
            self.address = address
            self.meaning = meaning
            self.roundTrip = roundTrip
        }
    }

    /// The meaning of a reply for the path.
    package enum Meaning: Sendable, Hashable {
        /// The hop is a router that forwards packets.
        case router
        /// Packets end here: the sender of the error rejects them, or cannot deliver them.
        case rejection(ICMPError)
        /// The destination answered.
        case destination(DestinationAnswer)
    }

    /// The form of a destination's answer.
    package enum DestinationAnswer: Sendable, Hashable {
        /// An ICMP error, such as that nothing receives at the port.
        case error(ICMPError)
        /// A TCP connection, a reset, or a datagram.
        case response(TraceResponse)
    }

    /// An answer that probes are too big.
    package struct Narrowing: Sendable, Hashable {
        /// The router that says so.
        package var address: IPAddress
        /// The size that its next link takes, in bytes.
        package var mtu: Int

        /// Creates a value.
        package init(address: IPAddress, mtu: Int) {
            self.address = address
            self.mtu = mtu
        }
    }

    /// Whether the hop is a router that forwards packets.
    var isRouter: Bool { answer?.meaning == .router }

    /// Whether the destination answered.
    var isDestination: Bool {
        if case .destination = answer?.meaning { true } else { false }
    }

    /// Whether packets are rejected here.
    var isRejection: Bool {
        if case .rejection = answer?.meaning { true } else { false }
    }
}

/// The hops of a path as far as they are known, and where they end.
struct TraceHops: Sendable, Hashable {
    private(set) var all: [TraceHop]
    /// The last hop of the path: the destination, a router that rejects packets, or the hop that proves a loop.
    ///
    /// Nil if the end is not known.
    private(set) var end: Int?

    /// For each hop, the longest round trip of those behind it that answered.
    private var longest: [Duration?]

    init(limit: Int) {
        all = (1...max(1, limit)).map { TraceHop($0) }
        longest = .init(repeating: nil, count: all.count)
    }

    /// A hop by its number.
    subscript(number: Int) -> TraceHop {
        get { all[number - 1] }
        set {
            all[number - 1] = newValue
            end = lastHop
            guard let roundTrip = newValue.answer?.roundTrip else { return }
            for position in 0..<(number - 1) { longest[position] = max(longest[position] ?? .zero, roundTrip) }
        }
    }

    /// The numbers of all hops.
    var numbers: ClosedRange<Int> { 1...all.count }

    /// The end of the path by the answers so far.
    ///
    /// A rejection counts only if no router behind it has answered: then another route was taken meanwhile.
    private var lastHop: Int? {
        if let destination = all.first(where: \.isDestination) { return destination.number }
        let last = all.last(where: \.isRouter)?.number ?? 0
        if let rejection = all.first(where: { $0.isRejection && $0.number > last }) { return rejection.number }
        return loop?.upperBound
    }

    /// The hops of a loop, up to the answer that proves it; nil if packets do not go in a circle.
    ///
    /// An address that answers at two hops proves nothing, since a route may change and balanced routes may differ in
    /// length. Two repetitions do.
    private var loop: ClosedRange<Int>? {
        let routers = all.map { $0.isRouter ? $0.answer?.address : nil }
        for end in routers.indices.dropFirst(3) {
            for length in 2...end where Self.repeats(routers, length, upTo: end) {
                return (end + 1 - length)...(end + 1)
            }
        }
        return nil
    }

    /// The routers of the loop, in their order, as far as they answered.
    var loopRouters: [IPAddress] {
        guard let loop else { return [] }
        let turn = Set(loop.compactMap { self[$0].answer?.address })
        let all = all[..<loop.upperBound].compactMap(\.answer?.address)
        return all.drop { !turn.contains($0) }.reduce(into: []) { routers, router in
            if !routers.contains(router) { routers.append(router) }
        }
    }

    /// Whether the address at the end stands two turns before too, or the last two addresses a turn before.
    private static func repeats(_ routers: [IPAddress?], _ length: Int, upTo end: Int) -> Bool {
        guard let last = routers[end], routers[end - length] == last, routers[end - 1] != last else { return false }
        if end >= 2 * length, routers[end - 2 * length] == last { return true }
        guard end > length, let previous = routers[end - 1] else { return false }
        return routers[end - 1 - length] == previous
    }

    /// The longest round trip of the hops behind one; nil if none of them answered.
    func roundTrip(behind number: Int) -> Duration? { longest[number - 1] }
}
