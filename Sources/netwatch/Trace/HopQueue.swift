import NetwatchCore
import ReachabilityCore

/// The hops that are to be shown, in their order; each waits for its name, if names are asked for.
struct HopQueue {
    private var hops: [TraceHop] = []
    private let names: HopNames?

    /// Creates an empty queue; without names, no hop waits.
    init(names: HopNames?) { self.names = names }

    /// Whether no hop waits.
    var isEmpty: Bool { hops.isEmpty }

    /// When the first hop has waited long enough; nil if none waits.
    var deadline: Instant? { hops.first.flatMap(nameDeadline) }

    /// Adds a hop.
    mutating func append(_ hop: TraceHop, at now: Instant) {
        hops.append(hop)
        if let address = hop.answer?.address { names?.look(up: address, at: now) }
    }

    /// Removes the first hop, if it has its name or has waited long enough.
    mutating func next(at now: Instant) -> (hop: TraceHop, name: String?)? {
        guard let first = hops.first, nameDeadline(of: first).map({ $0 <= now }) ?? true else { return nil }
        return (hops.removeFirst(), first.answer.flatMap { names?.name(of: $0.address) })
    }

    private func nameDeadline(of hop: TraceHop) -> Instant? {
        hop.answer.flatMap { names?.deadline(of: $0.address) }
    }
}
