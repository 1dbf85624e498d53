import NetworkLab

@testable import NetworkClientCore

/// A random user of a pool, which checks the pool's invariants.
struct PoolStory {
    var pool: HostPool
    var random: SeededGenerator
    private(set) var faults: [String] = []
    private var waiting: Set<UInt64> = []
    private var opening: Set<Int> = []
    private var busy: [Int: UInt64] = [:]
    private var idle: Set<Int> = []
    private var lastRequest: UInt64 = 0
    private var lastConnection = 0

    init(seed: UInt64, limit: Int) {
        pool = .init(limit: limit)
        random = .init(seed: seed)
    }

    mutating func step() {
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1, 2:
            lastRequest += 1
            waiting.insert(lastRequest)
            perform(pool.request(lastRequest))
        case 3: if let connection = pick(opening) { open(connection) }
        case 4: if let connection = pick(opening) { refuse(connection) }
        case 5: if let connection = pick(Set(busy.keys)) { release(connection) }
        case 6: if let connection = pick(Set(busy.keys)) { lose(connection) }
        case 7: if let request = pick(waiting) { withdraw(request) }
        case 8: if let connection = pick(opening) { refuse(connection, isShortage: true) }
        case 9: perform(pool.retryAfterShortage())
        default: if let connection = pick(idle) { expire(connection) }
        }
        check()
    }

    /// Completes all operations in progress.
    mutating func finish() {
        while !opening.isEmpty || !busy.isEmpty {
            if let connection = opening.min() { open(connection) }
            if let connection = busy.keys.min() { release(connection) }
            check()
        }
    }

    private mutating func open(_ connection: Int) {
        opening.remove(connection)
        idle.insert(connection)
        perform(pool.opened(connection))
    }

    private mutating func refuse(_ connection: Int, isShortage: Bool = false) {
        opening.remove(connection)
        perform(pool.openingFailed(connection, isShortage: isShortage))
    }

    private mutating func release(_ connection: Int) {
        busy[connection] = nil
        idle.insert(connection)
        perform(pool.released(connection))
    }

    private mutating func lose(_ connection: Int) {
        busy[connection] = nil
        perform(pool.closed(connection))
    }

    private mutating func withdraw(_ request: UInt64) {
        waiting.remove(request)
        perform(pool.withdraw(request))
    }

    private mutating func expire(_ connection: Int) {
        idle.remove(connection)
        perform(pool.closed(connection))
    }

    private mutating func perform(_ action: HostPool.Action) {
        switch action {
        case .none: break
        case .use(let connection, let request):
            if idle.remove(connection) == nil { faults.append("\(connection) is not free") }
            if waiting.remove(request) == nil { faults.append("\(request) does not wait") }
            busy[connection] = request
        case .open:
            lastConnection += 1
            opening.insert(lastConnection)
            pool.opening(lastConnection)
        case .close(let connections): idle.subtract(connections)
        case .abandon(let connections): opening.subtract(connections)
        case .fail(let request):
            if waiting.remove(request) == nil { faults.append("\(request) does not wait") }
            perform(pool.next())
        case .failAll: faults.append("connections are not shared")
        }
    }

    private mutating func check() {
        if !waiting.isEmpty, !idle.isEmpty { faults.append("a request waits although a connection is idle") }
        if !waiting.isEmpty, opening.isEmpty, busy.isEmpty {
            faults.append("a request waits although no connection is busy or being opened")
        }
        if pool.connectionCount > pool.limit { faults.append("there are too many connections") }
        if pool.connectionCount != idle.count + busy.count + opening.count { faults.append("the count is wrong") }
    }

    private mutating func pick<Element: Comparable>(_ set: Set<Element>) -> Element? {
        set.isEmpty ? nil : set.sorted()[Int.random(in: 0..<(set.count), using: &random)]
    }
}
