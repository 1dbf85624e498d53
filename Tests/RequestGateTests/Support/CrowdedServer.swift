import RequestGate

/// A server that takes a number of requests at once and refuses every other, with an answer of 503.
struct CrowdedServer {
    /// How many it serves at once.
    var capacity = 200
    /// How long it serves one: between these, all alike.
    var service: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(50)
    /// How long it takes to refuse one.
    var refusal: Duration = .zero
    /// How long a packet is under way to it, or back.
    var way: Duration = .microseconds(500)
    /// Until when it refuses everybody.
    var opens = BootInstant(nanoseconds: 0)
    private(set) var serving = 0

    /// What becomes of a request that arrived.
    enum Verdict {
        case serves(for: Duration)
        case refuses(after: Duration)
    }

    mutating func arrive(at now: BootInstant, using generator: inout some RandomNumberGenerator) -> Verdict {
        guard serving < capacity, now >= opens else { return .refuses(after: refusal) }
        serving += 1
        let bounds = service.lowerBound.clampedNanoseconds...service.upperBound.clampedNanoseconds
        return .serves(for: .nanoseconds(Int64.random(in: bounds, using: &generator)))
    }

    mutating func leave() { serving -= 1 }

    /// How long it takes for a number of requests if it is never idle.
    func ideal(for requests: Int) -> Duration {
        (service.lowerBound + service.upperBound) / 2 * requests / capacity
    }
}
