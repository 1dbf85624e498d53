import NetworkLab
import OutboxCore
import Testing

/// Worlds in which the destination fails, responses are lost and the sender is killed: nothing is lost, nothing without a
/// key is processed twice, and an ordered lane keeps its order.
@Suite struct RandomWorldTests {
    @Test(arguments: 1...400)
    func `every item ends once, and none is processed twice without a key`(seed: Int) {
        var world = World(seed: UInt64(seed))
        world.run()
        #expect(world.problems == [])
    }
}

/// A lane, its items as they are stored, and a server.
private struct World {
    private struct Item {
        var record = ItemRecord()
        var due: BoxTime?
        var processed = 0
        var end: ItemEnd?
        /// What an enqueued item has in memory of the sender: lost with it.
        var attempt: (isProbe: Bool, isFirst: Bool)?
    }

    private var generator: SeededGenerator
    private var lane: LaneState
    private var items: [Item] = []
    private var processedInOrder: [Int] = []
    private var now = BoxTime(nanoseconds: 0)
    private var isUp = true
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        generator = .init(seed: seed)
        var rules = LaneRules()
        let orders: [LaneOrder] = [.ordered(isStrict: true), .ordered(isStrict: false), .unordered(width: 3)]
        rules.order = orders[Int(seed % 3)]
        rules.itemAttempts = Int(seed % 2) + 1
        lane = .init(rules)
        items = (0..<12).map { _ in Item() }
        for index in items.indices {
            items[index].record.hasKey = chance(50)
            items[index].record.isIdempotent = chance(20)
        }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    mutating func run() {
        for _ in 0..<3_000 where items.contains(where: { $0.end == nil }) { turn() }
        isUp = true
        for _ in 0..<3_000 where items.contains(where: { $0.end == nil }) {
            now = now.advanced(by: .seconds(60))
            start()
            for index in underway { finish(index, mayFail: false) }
        }
        check()
    }

    private var underway: [Int] { items.indices.filter { items[$0].attempt != nil } }

    private mutating func turn() {
        now = now.advanced(by: .seconds(Int.random(in: 0...40, using: &generator)))
        if chance(5) {
            isUp.toggle()
            if isUp { lane.pathReturned(at: now) }
        }
        if chance(2) { kill() }
        start()
        for index in underway where chance(60) { finish(index, mayFail: true) }
    }

    /// Starts what may be started, in order.
    private mutating func start() {
        for index in items.indices where items[index].end == nil && items[index].attempt == nil {
            guard lane.allowance(at: now) > 0 else { return }
            if let due = items[index].due, due > now {
                if lane.rules.order.isStrict { return }
                continue
            }
            switch items[index].record.stepBeforeAttempt(lane.rules, at: now) {
            case .send: begin(index)
            case .end(let end): items[index].end = end
            case .wait: return
            }
        }
    }

    private mutating func begin(_ index: Int) {
        let isFirst = items[index].record.firstSent == nil
        if isFirst { items[index].record.firstSent = now }
        items[index].attempt = (lane.started(), isFirst)
    }

    private mutating func finish(_ index: Int, mayFail: Bool) {
        guard let attempt = items[index].attempt else { return }
        items[index].attempt = nil
        let verdict = result(index, mayFail).verdict
        lane.ended(verdict, isProbe: attempt.isProbe, at: now, using: &generator)
        switch items[index].record.apply(verdict, isFirst: attempt.isFirst, lane.rules, at: now) {
        case .end(let end): items[index].end = end
        case .wait(let until): items[index].due = until
        case .send: problems.append("an attempt ended in sending")
        }
    }

    private mutating func result(_ index: Int, _ mayFail: Bool) -> AttemptResult {
        guard isUp else { return .failure(.destination, mayBeProcessed: false) }
        if mayFail, chance(10) { return .response(status: 503, retryAfter: .seconds(20), isConfirmed: true) }
        if mayFail, chance(10) { return .response(status: 404, retryAfter: nil, isConfirmed: true) }
        items[index].processed += 1
        processedInOrder.append(index)
        if mayFail, chance(20) { return .failure(.destination, mayBeProcessed: true) }
        return .response(status: 200, retryAfter: nil, isConfirmed: true)
    }

    /// Ends the sender: what it knew is gone, what was stored remains; the next one recovers.
    private mutating func kill() {
        for index in underway {
            if chance(50) {
                items[index].processed += 1
                processedInOrder.append(index)
            }
            items[index].attempt = nil
            let lost = Verdict.interrupted(mayBeProcessed: true)
            if case .end(let end) = items[index].record.apply(lost, isFirst: false, lane.rules, at: now) {
                items[index].end = end
            }
        }
        lane = .init(lane.rules, pause: lane.pause)
    }

    private mutating func check() {
        for (index, item) in items.enumerated() {
            if item.end == nil { problems.append("item \(index) has no end") }
            if item.end == .delivered, item.processed == 0 { problems.append("item \(index) was lost") }
            let mayRepeat = item.record.hasKey || item.record.isIdempotent
            if item.processed > 1, !mayRepeat { problems.append("item \(index) was processed \(item.processed) times") }
        }
        guard lane.rules.order.isStrict else { return }
        let first = processedInOrder.reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
        if first != first.sorted() { problems.append("out of order: \(first)") }
    }
}
