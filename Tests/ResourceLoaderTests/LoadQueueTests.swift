import ResourceLoaderCore
import Testing

/// A queue that can be changed within an expectation.
private final class Queue {
    private var queue: LoadQueue<String>

    init(order: LoadQueue<String>.Order, limit: Int) { queue = .init(order: order, limit: limit) }

    var running: Int { queue.running }
    var callers: Int { queue.callers }
    func add(_ key: String, priority: Int) -> Int { queue.add(key, priority: priority) }
    func start() -> (key: String, load: Int)? { queue.start() }
    func remove(_ caller: Int) -> LoadQueue<String>.Departure { queue.remove(caller) }
    func finish(_ key: String, _ load: Int) -> [Int] { queue.finish(key, load) }
    func close(_ key: String) { queue.close(key) }
    func isOpen(_ key: String, _ load: Int) -> Bool { queue.isOpen(key, load) }
}

/// Which loads are shared, and which one is next.
struct LoadQueueTests {
    /// The keys that are started one after another, each after the end of the one before.
    private func order(_ queue: Queue) -> String {
        var keys = ""
        while let next = queue.start() {
            keys += next.key
            _ = queue.finish(next.key, next.load)
        }
        return keys
    }

    @Test func `equal keys share a load, whose callers get the result in their order`() throws {
        let queue = Queue(order: .firstInFirstOut, limit: 4)
        let callers = (1...1_000).map { _ in queue.add("a", priority: 0) }
        let load = try #require(queue.start())
        #expect(queue.start() == nil && queue.running == 1)
        let late = queue.add("a", priority: 5)
        #expect(queue.start() == nil)
        #expect(queue.finish("a", load.load) == callers + [late])
        #expect(queue.running == 0 && queue.callers == 0)
    }

    @Test func `only the last caller that leaves cancels the load`() throws {
        let queue = Queue(order: .firstInFirstOut, limit: 4)
        let callers = (1...1_000).map { _ in queue.add("a", priority: 0) }
        let load = try #require(queue.start())
        for caller in callers.dropLast() { #expect(queue.remove(caller) == .none) }
        #expect(queue.remove(callers[999]) == .cancel("a", load: load.load))
        #expect(queue.remove(callers[999]) == .none)
        // A new load of the key is independent of the old one, also while the old one has not ended.
        let new = queue.add("a", priority: 0)
        let second = try #require(queue.start())
        #expect(queue.finish("a", load.load).isEmpty && queue.running == 1)
        #expect(queue.finish("a", second.load) == [new])
    }

    @Test func `a closed load keeps its callers and gets no others`() throws {
        let queue = Queue(order: .firstInFirstOut, limit: 4)
        // A load that has not started is shared as before.
        let early = [queue.add("a", priority: 0), queue.add("a", priority: 0)]
        queue.close("a")
        let load = try #require(queue.start())
        #expect(queue.start() == nil && queue.isOpen("a", load.load))
        queue.close("a")
        #expect(!queue.isOpen("a", load.load))
        let late = queue.add("a", priority: 0)
        let second = try #require(queue.start())
        #expect(queue.remove(early[0]) == .none)
        #expect(queue.finish("a", load.load) == [early[1]] && queue.isOpen("a", second.load))
        queue.close("a")
        #expect(queue.remove(late) == .cancel("a", load: second.load))
        #expect(queue.finish("a", second.load).isEmpty && queue.running == 0 && queue.callers == 0)
    }

    @Test func `loads start in order, by priority first`() {
        let first = Queue(order: .firstInFirstOut, limit: 1)
        let last = Queue(order: .lastInFirstOut, limit: 1)
        for (key, priority) in [("a", 1), ("b", 0), ("c", 1), ("d", 2), ("e", 1), ("f", 2)] {
            _ = first.add(key, priority: priority)
            _ = last.add(key, priority: priority)
        }
        #expect(order(first) == "dfaceb" && order(last) == "fdecab")
    }

    @Test func `a caller moves a waiting load forward by its priority, and to the front of the last in`() {
        let first = Queue(order: .firstInFirstOut, limit: 1)
        let last = Queue(order: .lastInFirstOut, limit: 1)
        for (key, priority) in [("a", 0), ("b", 0), ("c", 0), ("b", 1), ("a", 0)] {
            _ = first.add(key, priority: priority)
            _ = last.add(key, priority: priority)
        }
        #expect(order(first) == "bac" && order(last) == "bac")
    }

    @Test func `a waiting load whose callers have left is not started`() {
        let queue = Queue(order: .firstInFirstOut, limit: 1)
        let callers = ["a", "b", "c"].map { queue.add($0, priority: 0) }
        #expect(queue.remove(callers[0]) == .none)
        // The key's new load is behind the others.
        _ = queue.add("a", priority: 0)
        #expect(order(queue) == "bca")
    }

    @Test func `no more loads run than the limit allows`() throws {
        let queue = Queue(order: .firstInFirstOut, limit: 3)
        for number in 0..<200 { _ = queue.add("\(number)", priority: 0) }
        var running: [(key: String, load: Int)] = []
        var started = 0
        repeat {
            while let next = queue.start() {
                #expect(next.key == "\(started)")
                started += 1
                running.append(next)
            }
            #expect(queue.running == min(3, 200 - started + running.count) && running.count <= 3)
            let ended = running.removeFirst()
            #expect(queue.finish(ended.key, ended.load).count == 1)
        } while !running.isEmpty || started < 200
        #expect(queue.callers == 0)
    }
}
