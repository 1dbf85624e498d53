package import ReachabilityCore

/// The pings that have not been responded to (RFC 6455, 5.5.2 and 5.5.3).
package struct WebSocketPings: Sendable {
    private struct Ping: Sendable {
        var id: UInt64
        var sent: Instant
    }

    private var pings: [Ping] = []
    private var last: UInt64 = 0

    /// Creates the state of a WebSocket without pings.
    package init() {}

    /// The time when the oldest ping without a response was sent; nil if there is none.
    package var oldest: Instant? { pings.first?.sent }

    /// Records a ping.
    ///
    /// - Returns: Its identifier and its payload.
    package mutating func send(at now: Instant) -> (id: UInt64, payload: [UInt8]) {
        last += 1
        pings.append(.init(id: last, sent: now))
        return (last, withUnsafeBytes(of: last.bigEndian) { Array($0) })
    }

    /// Handles a pong.
    ///
    /// A pong is also the response to earlier pings, which the other side need not respond to one by one.
    ///
    /// - Returns: The pings that it responds to, with their round-trip times; empty for a pong that nobody asked for.
    package mutating func receive(_ payload: [UInt8], at now: Instant) -> [(id: UInt64, roundTrip: Duration)] {
        guard payload.count == 8 else { return [] }
        let id = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let index = pings.firstIndex(where: { $0.id == id }) else { return [] }
        let confirmed = pings[...index].map { ($0.id, now.nanoseconds - $0.sent.nanoseconds) }
        pings.removeSubrange(...index)
        return confirmed.map { ($0.0, .nanoseconds($0.1)) }
    }
}
