/// Bounds how many subscribers one peer has, so that none takes all.
///
/// A subscriber over the limit waits until another one of its peer ends: a client of server-sent events gives up for
/// good at any response other than 200, so it must not receive a refusal.
package struct SubscriberLimit<Peer: Hashable & Sendable, Subscriber: Hashable & Sendable>: Sendable {
    /// The decision about a new subscriber.
    package enum Admission: Hashable, Sendable {
        /// It is served.
        case admitted
        /// It waits for its turn.
        case waits
        /// Its peer has as many waiting as it may.
        case refused
    }

    private struct Share {
        var admitted: Set<Subscriber> = []
        var waiting: [Subscriber] = []
        var isEmpty: Bool { admitted.isEmpty && waiting.isEmpty }
    }

    private let maximum: Int
    private let maximumWaiting: Int
    private var shares: [Peer: Share] = [:]

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - maximum: The number of subscribers that are served at a time, for each peer.
    ///   - maximumWaiting: The number of those that wait, for each peer.
    package init(maximum: Int = 256, maximumWaiting: Int = 256) {
        self.maximum = maximum
        self.maximumWaiting = maximumWaiting
    }

    /// The number of subscribers that are served.
    package var count: Int { shares.values.reduce(0) { $0 + $1.admitted.count } }

    /// Adds a subscriber.
    package mutating func add(_ subscriber: Subscriber, of peer: Peer) -> Admission {
        var share = shares[peer] ?? .init()
        defer { if !share.isEmpty { shares[peer] = share } }
        if share.admitted.count < maximum {
            share.admitted.insert(subscriber)
            return .admitted
        }
        guard share.waiting.count < maximumWaiting else { return .refused }
        share.waiting.append(subscriber)
        return .waits
    }

    /// Removes a subscriber that ended, whether it was served or waited.
    ///
    /// - Returns: The subscriber whose turn it is now; nil if there is none.
    package mutating func remove(_ subscriber: Subscriber, of peer: Peer) -> Subscriber? {
        guard var share = shares[peer] else { return nil }
        defer { shares[peer] = share.isEmpty ? nil : share }
        guard share.admitted.remove(subscriber) != nil else {
            share.waiting.removeAll { $0 == subscriber }
            return nil
        }
        guard !share.waiting.isEmpty else { return nil }
        let next = share.waiting.removeFirst()
        share.admitted.insert(next)
        return next
    }
}
