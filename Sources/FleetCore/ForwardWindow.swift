/// The events that were given to a client and are not acknowledged, in order.
///
/// The position moves only over events that are acknowledged with all before them: after a crash at any moment, no event is
/// missing.
package struct ForwardWindow: Sendable {
    /// An event in the window.
    private struct Entry {
        let token: UInt64
        let event: FleetEvent
        var isAcknowledged = false
        var isRefused = false
    }

    /// The number of events that may wait for their acknowledgement.
    package let capacity: Int
    /// The last event that is acknowledged with all before it.
    package private(set) var position: String?
    private var entries: [Entry] = []
    private var lastToken: UInt64

    /// Creates an empty window.
    ///
    /// - Parameters:
    ///   - capacity: The number of events.
    ///   - position: The last event that was acknowledged; nil if there is none.
    ///   - firstToken: The token of the first event; lower ones are never given.
    package init(capacity: Int = 50, position: String?, firstToken: UInt64 = 1) {
        self.capacity = capacity
        self.position = position
        lastToken = firstToken - 1
    }

    /// Returns the position before an event; nil for an id that is none.
    package static func position(before id: String) -> String? {
        let parts = id.split(separator: ".")
        guard parts.count == 2, let number = UInt64(parts[1]), number > 0 else { return nil }
        return "\(parts[0]).\(number - 1)"
    }

    /// Sets the position before the first event.
    package mutating func begin(at position: String) { self.position = position }

    /// Whether another event may be added.
    package var hasRoom: Bool { entries.count < capacity }

    /// Whether all events are acknowledged.
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds an event.
    ///
    /// - Returns: The token for its acknowledgement.
    package mutating func add(_ event: FleetEvent) -> UInt64 {
        lastToken += 1
        entries.append(.init(token: lastToken, event: event))
        return lastToken
    }

    /// Notes an acknowledgement.
    ///
    /// - Returns: Whether the position moved.
    package mutating func acknowledge(_ token: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.token == token }) else { return false }
        entries[index].isAcknowledged = true
        let count = entries.prefix { $0.isAcknowledged }.count
        let last = entries[..<count].last { $0.event.id != nil }?.event.id
        entries.removeFirst(count)
        guard let last, last != position else { return false }
        position = last
        return true
    }

    /// Notes that the broker refused an event, which has to be sent again.
    package mutating func refuse(_ token: UInt64) {
        guard let index = entries.firstIndex(where: { $0.token == token }) else { return }
        entries[index].isRefused = true
    }

    /// Takes the events that have to be sent again, in order.
    package mutating func takeRefused() -> [(token: UInt64, event: FleetEvent)] {
        let refused = entries.filter(\.isRefused).map { ($0.token, $0.event) }
        for index in entries.indices { entries[index].isRefused = false }
        return refused
    }
}
