import NetworkLab
import Testing

@testable import NetworkClientCore

struct HostPoolTests {
    @Test func `the most recently used connection is used next`() {
        var pool = HostPool(limit: 2)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        #expect(pool.request(2) == .open)
        pool.opening(1)
        #expect(pool.opened(0) == .use(0, for: 1))
        #expect(pool.opened(1) == .use(1, for: 2))
        #expect(pool.released(1) == .none)
        #expect(pool.released(0) == .none)
        #expect(pool.request(3) == .use(0, for: 3))
    }

    @Test func `the first free connection serves the longest-waiting request`() {
        var pool = HostPool(limit: 2)
        _ = pool.request(1)
        pool.opening(0)
        #expect(pool.opened(0) == .use(0, for: 1))
        #expect(pool.request(2) == .open)
        pool.opening(1)
        #expect(pool.request(3) == .none)
        #expect(pool.released(0) == .use(0, for: 2))
        #expect(pool.opened(1) == .use(1, for: 3))
    }

    @Test func `a slot of a certain connection is taken only if it is free`() {
        var pool = HostPool(limit: 2, sharing: .shared)
        #expect(pool.take(0) == false)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        #expect(pool.take(0) == false)
        #expect(pool.opened(0, slots: 2) == .use(0, for: 1))
        #expect(pool.take(0) == true)
        #expect(pool.take(0) == false)
        // It is full: the next request needs another connection.
        #expect(pool.request(2) == .open)
        #expect(pool.released(0) == .use(0, for: 2))
        #expect(pool.released(0) == .none)
        #expect(pool.drain() == .none)
        #expect(pool.released(0) == .none)
        #expect(pool.drain() == .close([0]))
        #expect(pool.take(0) == false)
    }

    @Test func `requests are served by rank, and those with the same rank in order`() {
        var pool = HostPool(limit: 1)
        _ = pool.request(1)
        pool.opening(0)
        #expect(pool.opened(0) == .use(0, for: 1))
        for (request, rank) in [(2, 5), (3, 0), (4, 5), (5, -7), (6, 0)] as [(UInt64, Int64)] {
            #expect(pool.request(request, rank: rank) == .none)
        }
        #expect(pool.withdraw(6) == .none)
        #expect(pool.request(6, rank: -8) == .none)
        for request in [6, 5, 3, 2, 4] as [UInt64] { #expect(pool.released(0) == .use(0, for: request)) }
        #expect(pool.released(0) == .none)
    }

    @Test func `the queue returns what a sorted list would, whatever is added and removed`() {
        var generator = SeededGenerator(seed: 1)
        var queue = WaitingQueue()
        var expected: [(rank: Int64, number: Int, request: UInt64)] = []
        for number in 0..<20_000 {
            let request = UInt64.random(in: 0..<500, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5 where !expected.contains(where: { $0.request == request }):
                let rank = Int64.random(in: 0..<4, using: &generator)
                queue.append(request, rank: rank)
                expected.append((rank, number, request))
            case 5..<8:
                let index = expected.firstIndex { $0.request == request }
                #expect(queue.remove(request) == (index != nil))
                if let index { expected.remove(at: index) }
            case 8...:
                let first = expected.indices.min {
                    (expected[$0].rank, expected[$0].number) < (expected[$1].rank, expected[$1].number)
                }
                #expect(queue.popFirst() == first.map { expected.remove(at: $0).request })
            default: break
            }
            #expect(queue.count == expected.count)
        }
    }

    @Test func `each failed connection attempt fails one request, and the next one gets its own attempt`() {
        var pool = HostPool(limit: 1)
        _ = pool.request(1)
        pool.opening(0)
        #expect(pool.request(2) == .none)
        #expect(pool.openingFailed(0) == .fail(1))
        #expect(pool.next() == .open)
        pool.opening(1)
        #expect(pool.openingFailed(1) == .fail(2))
        #expect(pool.next() == .none)
        #expect(pool.isEmpty)
    }

    @Test func `a failed attempt fails no request while another attempt is running for it`() {
        var pool = HostPool(limit: 3)
        _ = pool.request(1)
        pool.opening(0)
        _ = pool.request(2)
        pool.opening(1)
        #expect(pool.withdraw(1) == .none)
        #expect(pool.openingFailed(0) == .none)
        #expect(pool.opened(1) == .use(1, for: 2))
    }

    @Test func `when descriptors are short, requests wait for existing connections`() {
        var pool = HostPool(limit: 9)
        _ = pool.request(1)
        pool.opening(0)
        #expect(pool.opened(0) == .use(0, for: 1))
        #expect(pool.request(2) == .open)
        pool.opening(1)
        #expect(pool.openingFailed(1, isShortage: true) == .none)
        #expect(pool.next() == .none)
        for request in UInt64(3)...4 { #expect(pool.request(request) == .none) }
        #expect(pool.released(0) == .use(0, for: 2))
        // A connection that closes frees its descriptor for the next one.
        #expect(pool.closed(0) == .open)
        pool.opening(2)
        #expect(pool.opened(2) == .use(2, for: 3))
        #expect(pool.next() == .none)
        #expect(pool.isShort)
        #expect(pool.retryAfterShortage() == .open)
    }

    @Test func `requests wait for one connection as long as its protocol is unknown`() {
        var pool = HostPool(limit: 6, sharing: .unknown)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        for request in UInt64(2)...4 { #expect(pool.request(request) == .none) }
        pool.sharing = .shared
        #expect(pool.opened(0, slots: 2) == .use(0, for: 1))
        #expect(pool.next() == .use(0, for: 2))
        #expect(pool.next() == .open)
        pool.opening(1)
        #expect(pool.next() == .none)
        #expect(pool.released(0) == .use(0, for: 3))
        #expect(pool.opened(1, slots: 2) == .use(1, for: 4))
    }

    @Test func `without sharing, the requests that waited for one connection get their own`() {
        var pool = HostPool(limit: 3, sharing: .unknown)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        for request in UInt64(2)...4 { #expect(pool.request(request) == .none) }
        pool.sharing = .exclusive
        #expect(pool.opened(0) == .use(0, for: 1))
        for connection in 1...2 {
            #expect(pool.next() == .open)
            pool.opening(connection)
        }
        #expect(pool.next() == .none)
    }

    @Test func `a failed attempt fails all requests that waited for it`() {
        var pool = HostPool(limit: 3, sharing: .unknown)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        for request in UInt64(2)...4 { _ = pool.request(request) }
        #expect(pool.openingFailed(0) == .failAll([1, 2, 3, 4]))
        #expect(pool.isEmpty)
    }

    @Test func `the number of exchanges of a connection changes`() {
        var pool = HostPool(limit: 1, sharing: .shared)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        #expect(pool.opened(0, slots: 3) == .use(0, for: 1))
        #expect(pool.request(2) == .use(0, for: 2))
        #expect(pool.changeSlots(of: 0, to: 1) == .none)
        #expect(pool.request(3) == .none)
        #expect(pool.released(0) == .none)
        #expect(pool.released(0) == .use(0, for: 3))
        #expect(pool.request(4) == .none)
        #expect(pool.request(5) == .none)
        #expect(pool.changeSlots(of: 0, to: 3) == .use(0, for: 4))
        #expect(pool.next() == .use(0, for: 5))
    }

    @Test func `a connection that accepts no more leaves its place to another one`() {
        var pool = HostPool(limit: 1, sharing: .shared)
        _ = pool.request(1)
        pool.opening(0)
        _ = pool.opened(0, slots: 3)
        #expect(pool.changeSlots(of: 0, to: 0, isFinal: true) == .none)
        #expect(pool.request(2) == .open)
        pool.opening(1)
        #expect(pool.released(0) == .none)
        #expect(pool.opened(1, slots: 3) == .use(1, for: 2))
        #expect(pool.closed(0) == .none)
        #expect(pool.connectionCount == 1)
    }

    @Test func `a shortage ends when no request waits`() {
        var pool = HostPool(limit: 9)
        _ = pool.request(1)
        pool.opening(0)
        _ = pool.opened(0)
        _ = pool.request(2)
        pool.opening(1)
        _ = pool.openingFailed(1, isShortage: true)
        #expect(pool.isShort)
        #expect(pool.released(0) == .use(0, for: 2))
        #expect(!pool.isShort)
        #expect(pool.request(3) == .open)
    }

    @Test func `without connections, a shortage fails each request`() {
        var pool = HostPool(limit: 9)
        _ = pool.request(1)
        pool.opening(0)
        _ = pool.request(2)
        pool.opening(1)
        #expect(pool.openingFailed(0, isShortage: true) == .none)
        #expect(pool.next() == .none)
        #expect(pool.openingFailed(1, isShortage: true) == .fail(1))
        #expect(pool.next() == .open)
        pool.opening(2)
        #expect(pool.openingFailed(2, isShortage: true) == .fail(2))
        #expect(pool.next() == .none)
        #expect(pool.isEmpty)
    }

    @Test func `an unneeded connection attempt is cancelled, and a late connection is closed`() {
        var pool = HostPool(limit: 3)
        _ = pool.request(1)
        pool.opening(7)
        #expect(pool.withdraw(1) == .abandon([7]))
        #expect(pool.isEmpty)
        #expect(pool.opened(7) == .close([7]))
        #expect(pool.openingFailed(7) == .none)
    }

    @Test func `a connection that closed while idle is not used`() {
        var pool = HostPool(limit: 1)
        _ = pool.request(1)
        pool.opening(0)
        _ = pool.opened(0)
        _ = pool.released(0)
        #expect(pool.closed(0) == .none)
        #expect(pool.connectionCount == 0)
        #expect(pool.closed(0) == .none)
        #expect(pool.connectionCount == 0)
        #expect(pool.request(2) == .open)
    }

    @Test func `a connection with several slots carries as many exchanges before another one is opened`() {
        var pool = HostPool(limit: 2)
        #expect(pool.request(1) == .open)
        pool.opening(0)
        #expect(pool.request(2) == .open)
        pool.opening(1)
        #expect(pool.opened(0, slots: 3) == .use(0, for: 1))
        #expect(pool.next() == .use(0, for: 2))
        #expect(pool.next() == .none)
        #expect(pool.request(3) == .use(0, for: 3))
        #expect(pool.request(4) == .none)
        #expect(pool.released(0) == .use(0, for: 4))
        #expect(pool.drain() == .none)
        for _ in 0..<3 { #expect(pool.released(0) == .none) }
        #expect(pool.drain() == .close([0]))
        #expect(pool.connectionCount == 1)
    }

    /// In random histories, no connection serves two requests, no request waits while a connection is idle or while
    /// none is being opened, and each request is served or failed in the end.
    @Test(arguments: 1...20)
    func `random histories keep the pool's invariants`(seed: UInt64) {
        var story = PoolStory(seed: seed, limit: Int(seed % 4) + 1)
        for _ in 0..<2_000 {
            story.step()
            #expect(story.faults.isEmpty, "\(story.faults)")
        }
        story.finish()
        #expect(story.pool.waiting.isEmpty)
        #expect(story.faults.isEmpty, "\(story.faults)")
    }
}
