/// Requests in the order in which they came; any of them may leave.
///
/// Taking the first and leaving are O(1), amortized: who left keeps an empty place until the line has moved past it.
struct WaitingLine: Sendable, Hashable {
    private var places: [UInt64] = []
    private var first = 0
    private var present: Set<UInt64> = []

    var count: Int { present.count }
    var isEmpty: Bool { present.isEmpty }

    mutating func append(_ request: UInt64) {
        guard present.insert(request).inserted else { return }
        places.append(request)
    }

    mutating func popFirst() -> UInt64? {
        while first < places.count {
            let request = places[first]
            first += 1
            guard present.remove(request) != nil else { continue }
            shrink()
            return request
        }
        shrink()
        return nil
    }

    /// Whether it was there.
    mutating func remove(_ request: UInt64) -> Bool {
        guard present.remove(request) != nil else { return false }
        shrink()
        return true
    }

    /// Gives places back that nobody stands in, once they are the greater part.
    private mutating func shrink() {
        if present.isEmpty {
            places.removeAll(keepingCapacity: true)
            first = 0
        } else if places.count > 64, places.count > 2 * present.count {
            places = places[first...].filter(present.contains)
            first = 0
        }
    }
}
