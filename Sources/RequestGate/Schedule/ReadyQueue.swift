/// Hosts that may have something to release, each in its turn.
struct ReadyQueue: Sendable {
    private var hosts: [Int32] = []
    private var start = 0

    var isEmpty: Bool { start == hosts.count }

    mutating func append(_ host: Int32) { hosts.append(host) }

    mutating func popFirst() -> Int32? {
        guard start < hosts.count else { return nil }
        defer {
            start += 1
            if start > 32, start * 2 > hosts.count {
                hosts.removeFirst(start)
                start = 0
            }
        }
        return hosts[start]
    }
}
