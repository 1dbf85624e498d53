import RequestGate

/// A server that handles a number of requests concurrently and rejects all others with a 503.
struct CrowdedServer {
    /// The maximum number of concurrent requests.
    var capacity = 200
    /// The range of service times, uniformly distributed.
    var service: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(50)
    /// The time that it takes to reject a request.
    var refusal: Duration = .zero
    /// The transit time of a packet in each direction.
    var transit: Duration = .microseconds(500)
    /// The time until which it rejects all requests.
    var opens = BootInstant(nanoseconds: 0)
    private(set) var serving = 0

    /// The handling of a request that arrived.
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

    /// Returns the minimum time for a number of requests, if the server is never idle.
    func ideal(for requests: Int) -> Duration {
        (service.lowerBound + service.upperBound) / 2 * requests / capacity
    }
}
